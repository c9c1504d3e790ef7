package org.rdma4j;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.members;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The packages of the library and their dependencies, as docs/architecture/layers.md describes
 * them.
 */
final class ArchitectureTest {
  private static final String ROOT = "org.rdma4j";

  /** Maps each package of the library to the packages that it may import. */
  private static final Map<String, Set<String>> MAY_IMPORT = new TreeMap<>();

  static {
    allow("");
    allow("platform", "");
    allow("lifetime", "", "platform");
    allow("datapath", "");
    allow("efa", "", "datapath", "platform");
    allow("inplace", "", "datapath", "platform");
    allow("verbs.attribute", "", "platform");
    allow("verbs.address", "", "platform");
    allow("verbs.internal", "lifetime", "verbs");
    allow(
        "verbs",
        "",
        "datapath",
        "efa",
        "inplace",
        "lifetime",
        "platform",
        "verbs.address",
        "verbs.attribute",
        "verbs.internal");
    allow("memory", "", "lifetime", "platform", "verbs", "verbs.internal");
    allow(
        "flow",
        "",
        "lifetime",
        "platform",
        "verbs",
        "verbs.address",
        "verbs.attribute",
        "verbs.internal");
    allow(
        "cm",
        "",
        "lifetime",
        "platform",
        "verbs",
        "verbs.address",
        "verbs.attribute",
        "verbs.internal");
    allow("recording");
    allow("connection.wire");
    allow("connection.buffers", "", "connection.wire", "lifetime", "platform", "verbs");
    allow(
        "connection.session", "", "connection.buffers", "connection.wire", "platform", "recording");
    allow(
        "connection",
        "",
        "cm",
        "connection.buffers",
        "connection.session",
        "connection.wire",
        "lifetime",
        "platform",
        "recording",
        "verbs",
        "verbs.attribute",
        "verbs.internal");
  }

  private static final Set<String> OTHER_MODULES =
      Set.of("org.rdma4j.bindings", "org.rdma4j.testing");

  private static final Set<String> EXPORTED =
      Set.of("", "cm", "connection", "flow", "memory", "verbs", "verbs.address", "verbs.attribute");

  /** The packages that call C. Those above them are built on the verbs alone. */
  private static final Set<String> CALLING_C =
      Set.of(
          "platform",
          "datapath",
          "efa",
          "inplace",
          "verbs",
          "verbs.address",
          "verbs.attribute",
          "flow",
          "cm");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(MAY_IMPORT.keySet().stream().map(ArchitectureTest::full).toList());

  private static void allow(String importing, String... imported) {
    MAY_IMPORT.put(importing, Set.of(imported));
  }

  private static String full(String name) {
    return name.isEmpty() ? ROOT : ROOT + "." + name;
  }

  private static String[] full(Stream<String> names) {
    return names.map(ArchitectureTest::full).toArray(String[]::new);
  }

  @TestFactory
  Stream<DynamicTest> eachPackageImportsOnlyWhatItMay() {
    return MAY_IMPORT.keySet().stream()
        .map(
            name ->
                DynamicTest.dynamicTest(
                    full(name),
                    () ->
                        classes()
                            .that()
                            .resideInAPackage(full(name))
                            .should()
                            .onlyDependOnClassesThat()
                            .resideInAnyPackage(allowedFor(name))
                            .check(CLASSES)));
  }

  private static String[] allowedFor(String name) {
    List<String> allowed =
        new ArrayList<>(List.of("java..", "jdk.jfr..", "org.jspecify..", full(name)));
    allowed.addAll(List.of(full(MAY_IMPORT.getOrDefault(name, Set.of()).stream())));
    if (CALLING_C.contains(name)) {
      allowed.add("org.rdma4j.bindings..");
    }
    return allowed.toArray(String[]::new);
  }

  @Test
  void eachPackageIsNamedHere() {
    Set<String> found = new TreeSet<>();
    for (JavaClass each :
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT)) {
      if (OTHER_MODULES.stream().noneMatch(each.getPackageName()::startsWith)) {
        found.add(each.getPackageName());
      }
    }
    assertThat(found).containsExactlyInAnyOrder(full(MAY_IMPORT.keySet().stream()));
  }

  @Test
  void theModuleExportsWhatUsersNeedAndHidesTheRest() {
    ModuleDescriptor module = ArchitectureTest.class.getModule().getDescriptor();
    assertThat(module.exports().stream().map(Exports::source))
        .containsExactlyInAnyOrder(full(EXPORTED.stream()));
  }

  @Test
  void packagesHaveNoCycles() {
    slices().assignedFrom(new PackageSlices()).should().beFreeOfCycles().check(CLASSES);
  }

  /** A part of the engine can be read without the rest: at most a dozen files need each other. */
  @Test
  void noKnotOfConnectionsIsLargerThanADozenFiles() {
    Map<String, Set<String>> needs = new TreeMap<>();
    for (JavaClass each : CLASSES) {
      if (each.getPackageName().equals(full("connection"))) {
        Set<String> ofFile = needs.computeIfAbsent(file(each), name -> new TreeSet<>());
        each.getDirectDependenciesFromSelf().stream()
            .map(dependency -> dependency.getTargetClass().getBaseComponentType())
            .filter(target -> target.getPackageName().equals(full("connection")))
            .forEach(target -> ofFile.add(file(target)));
      }
    }
    Map<String, Set<String>> reached = new TreeMap<>();
    needs.keySet().forEach(name -> reached.put(name, reachedFrom(name, needs)));
    for (Map.Entry<String, Set<String>> each : reached.entrySet()) {
      List<String> knot =
          each.getValue().stream()
              .filter(other -> reached.getOrDefault(other, Set.of()).contains(each.getKey()))
              .toList();
      assertThat(knot).hasSizeLessThanOrEqualTo(12);
    }
  }

  private static Set<String> reachedFrom(String start, Map<String, Set<String>> needs) {
    Set<String> reached = new TreeSet<>();
    Deque<String> next = new ArrayDeque<>(Set.of(start));
    while (!next.isEmpty()) {
      for (String each : needs.getOrDefault(next.pop(), Set.of())) {
        if (reached.add(each)) {
          next.push(each);
        }
      }
    }
    return reached;
  }

  private static String file(JavaClass ofFile) {
    return ofFile.getName().replaceFirst("\\$.*", "");
  }

  /**
   * A slice for each package. {@code verbs} and {@code verbs.internal} are one: the latter holds
   * what the former grants to the packages above it.
   */
  private static final class PackageSlices implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
      String name = javaClass.getPackageName();
      if (!name.startsWith(ROOT) || name.startsWith("org.rdma4j.bindings")) {
        return SliceIdentifier.ignore();
      }
      return SliceIdentifier.of(name.equals(full("verbs.internal")) ? full("verbs") : name);
    }

    @Override
    public String getDescription() {
      return "packages";
    }
  }

  /**
   * The lint "exports" of javac would check this too, but also demands that users of the module
   * have the annotations of JSpecify.
   */
  @Test
  void publicMembersNameOnlyTypesThatUsersCanName() {
    String[] exported = full(EXPORTED.stream());
    members()
        .that()
        .arePublic()
        .and()
        .areDeclaredInClassesThat()
        .resideInAnyPackage(exported)
        .and()
        .areDeclaredInClassesThat()
        .arePublic()
        .should(
            ArchCondition.from(
                DescribedPredicate.describe(
                    "name only types of the JDK and of exported packages",
                    (JavaMember member) ->
                        member.getAllInvolvedRawTypes().stream()
                            .map(JavaClass::getBaseComponentType)
                            .allMatch(
                                type ->
                                    type.isPrimitive()
                                        || type.getPackageName().startsWith("java.")
                                        || List.of(exported).contains(type.getPackageName())))))
        .check(CLASSES);
  }

  @Test
  void nobodyElseCanExtendAPublicClass() {
    classes()
        .that()
        .resideInAnyPackage(full(EXPORTED.stream().filter(name -> !name.isEmpty())))
        .and()
        .areNotInterfaces()
        .and()
        .areNotEnums()
        .and()
        .arePublic()
        .and(DescribedPredicate.describe("are not sealed", each -> !each.reflect().isSealed()))
        .should()
        .haveModifier(JavaModifier.FINAL)
        .check(CLASSES);
  }
}
