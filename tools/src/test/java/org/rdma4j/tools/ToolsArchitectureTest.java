package org.rdma4j.tools;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** Checks that each package of programs can be read without the others. */
final class ToolsArchitectureTest {
  private static final String ALL = "org.rdma4j.tools..";
  private static final String SHARED = "org.rdma4j.tools.command..";
  private static final String FIRST = "org.rdma4j.tools.first..";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .importUrl(Main.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void sharedCodeKnowsNoProgram() {
    noClasses()
        .that()
        .resideInAPackage(SHARED)
        .should()
        .dependOnClassesThat(resideInAPackage(ALL).and(not(resideInAPackage(SHARED))))
        .check(CLASSES);
  }

  @Test
  void nothingDependsOnTheMainClass() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(Main.class)
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(Main.class)
        .check(CLASSES);
  }

  /** The first programs do not even use the shared code: each is a file that stands alone. */
  @Test
  void packagesOfProgramsDependOnTheSharedCodeOnly() {
    slices()
        .matching("org.rdma4j.tools.(*)..")
        .should()
        .notDependOnEachOther()
        .ignoreDependency(not(resideInAPackage(FIRST)), resideInAPackage(SHARED))
        .check(CLASSES);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("org.rdma4j.tools.(*)..").should().beFreeOfCycles().check(CLASSES);
  }
}
