package org.rdma4j.nio;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What the classes of this module may use, as docs/architecture/layers.md describes it. */
final class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("org.rdma4j.nio");

  @Test
  void channelsUseOnlyConnectionsTheHandoverAndTheListOfDevices() {
    classes()
        .that()
        .resideInAPackage("org.rdma4j.nio")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java..",
            "javax.crypto..",
            "javax.management..",
            "jdk.jfr",
            "org.jspecify..",
            "org.rdma4j",
            "org.rdma4j.connection",
            "org.rdma4j.verbs",
            "org.rdma4j.verbs.attribute",
            "org.rdma4j.nio..")
        .check(CLASSES);
  }

  @Test
  void theHandoverKnowsNeitherChannelsNorConnections() {
    classes()
        .that()
        .resideInAPackage("org.rdma4j.nio.handover")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "javax.crypto..", "org.jspecify..", "org.rdma4j.nio.handover")
        .check(CLASSES);
  }
}
