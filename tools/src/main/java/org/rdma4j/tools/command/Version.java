package org.rdma4j.tools.command;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest, for {@code --version}. */
public final class Version implements IVersionProvider {
  /** Creates the provider. */
  public Version() {}

  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {
      "rdma4j-tools " + Objects.requireNonNullElse(version, "(not run from its jar)")
    };
  }
}
