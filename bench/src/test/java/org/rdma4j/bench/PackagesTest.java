package org.rdma4j.bench;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

final class PackagesTest {
  @Test
  void packagesUseOnlyThoseBelowThem() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("runs of JMH")
        .definedBy("org.rdma4j.bench")
        .layer("measuring")
        .definedBy("org.rdma4j.bench.measuring")
        .layer("reporting")
        .definedBy("org.rdma4j.bench.reporting")
        .layer("loops")
        .definedBy("org.rdma4j.bench.loops")
        .layer("standin")
        .definedBy("org.rdma4j.bench.standin")
        .layer("connections")
        .definedBy("org.rdma4j.bench.connections")
        .layer("tests of the hot path")
        .definedBy("org.rdma4j.bench.hotpath")
        .whereLayer("tests of the hot path")
        .mayOnlyAccessLayers("measuring", "loops", "standin")
        .whereLayer("runs of JMH")
        .mayOnlyAccessLayers("reporting", "loops", "standin")
        .whereLayer("measuring")
        .mayOnlyAccessLayers("reporting", "loops", "standin")
        .whereLayer("reporting")
        .mayOnlyAccessLayers("loops", "standin")
        .whereLayer("loops")
        .mayOnlyAccessLayers("standin")
        .whereLayer("standin")
        .mayNotAccessAnyLayer()
        .whereLayer("connections")
        .mayNotAccessAnyLayer()
        .check(
            new ClassFileImporter()
                .withImportOption(location -> !location.contains("jmh_generated"))
                .importPackages("org.rdma4j.bench"));
  }
}
