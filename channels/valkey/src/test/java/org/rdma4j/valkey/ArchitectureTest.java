package org.rdma4j.valkey;

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
          .importPackages("org.rdma4j.valkey");

  @Test
  void socketsUseOnlyVerbsAndTheConnectionManager() {
    classes()
        .that()
        .resideInAPackage("org.rdma4j.valkey")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java..",
            "redis.clients.jedis..",
            "org.jspecify..",
            "org.rdma4j",
            "org.rdma4j.cm",
            "org.rdma4j.verbs",
            "org.rdma4j.valkey")
        .check(CLASSES);
  }
}
