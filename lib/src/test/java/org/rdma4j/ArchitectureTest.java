package org.rdma4j;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The shape of the library, as docs/architecture.md draws it. */
final class ArchitectureTest {
  private static final String[] EXPORTED = {
    "org.rdma4j",
    "org.rdma4j.cm",
    "org.rdma4j.connection",
    "org.rdma4j.endpoint",
    "org.rdma4j.memory",
    "org.rdma4j.verbs"
  };
  private static final String[] ALL = {
    "org.rdma4j",
    "org.rdma4j.cm",
    "org.rdma4j.connection",
    "org.rdma4j.endpoint",
    "org.rdma4j.lifetime",
    "org.rdma4j.memory",
    "org.rdma4j.platform",
    "org.rdma4j.verbs"
  };
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(ALL);

  @Test
  void nothingGeneratedStandsInAPublicSignature() {
    methods()
        .that()
        .areDeclaredInClassesThat()
        .resideInAnyPackage(EXPORTED)
        .and()
        .arePublic()
        .should()
        .notHaveRawReturnType(resideInAPackage("org.rdma4j.bindings.."))
        .check(CLASSES);
  }

  @Test
  void nothingButTheJdkIsNeededAtRunTime() {
    classes()
        .that()
        .resideInAnyPackage(ALL)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "org.jspecify..", "org.rdma4j..")
        .check(CLASSES);
  }

  @Test
  void memoryAndLifetimesKnowNoVerbs() {
    noClasses()
        .that()
        .resideInAnyPackage("org.rdma4j.memory", "org.rdma4j.lifetime", "org.rdma4j.platform")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.rdma4j.verbs")
        .check(CLASSES);
  }

  @Test
  void publicClassesAreFinal() {
    classes()
        .that()
        .resideInAnyPackage(
            "org.rdma4j.cm",
            "org.rdma4j.connection",
            "org.rdma4j.endpoint",
            "org.rdma4j.memory",
            "org.rdma4j.verbs")
        .and()
        .areNotInterfaces()
        .and()
        .areNotEnums()
        .and()
        .arePublic()
        .should()
        .haveModifier(JavaModifier.FINAL)
        .check(CLASSES);
  }

  @Test
  void packagesDoNotGoInCircles() {
    slices()
        .matching("org.rdma4j.(cm|connection|endpoint|verbs|memory|lifetime|platform)..")
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }
}
