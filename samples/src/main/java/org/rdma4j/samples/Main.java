package org.rdma4j.samples;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The command line: picks the subcommand, and tells failures in a line. */
@Command(
    name = "rdma4j-samples",
    description = "Shows RDMA devices, and plays over them with rdma-core's programs or itself.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      Devices.class,
      DevInfo.class,
      RcPingPong.class,
      UcPingPong.class,
      UdPingPong.class,
      SrqPingPong.class,
      EndpointPingPong.class,
      ConnectionPingPong.class,
      ReadWriteDemo.class,
      RcExample.class,
      AsyncWatch.class,
      Rping.class,
      RdmaClient.class,
      RdmaServer.class,
      Ucmatose.class,
      Udaddy.class,
      Mckey.class,
      Cmtime.class,
      Srq.class,
      Rcopy.class
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:it went well", "1:it failed", "2:wrong usage"})
public final class Main implements Runnable {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  private Main() {}

  /**
   * Runs a subcommand and ends the process.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    Charset charset = Charset.defaultCharset();
    System.exit(
        run(
            new PrintWriter(new OutputStreamWriter(System.out, charset), true),
            new PrintWriter(new OutputStreamWriter(System.err, charset), true),
            args));
  }

  /** Runs a subcommand and returns the exit status. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    return new CommandLine(new Main())
        .setOut(out)
        .setErr(err)
        // As getopt has it: the last one counts.
        .setOverwrittenOptionsAllowed(true)
        .setExecutionExceptionHandler(Main::failed)
        .setParameterExceptionHandler(Main::misused)
        .execute(args);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which subcommand?");
  }

  private static int failed(Exception failure, CommandLine command, @Nullable ParseResult parsed) {
    PrintWriter err = command.getErr();
    err.println(command.getCommandSpec().qualifiedName() + ": " + message(failure));
    if (parsed != null && parsed.expandedArgs().contains("--debug")) {
      failure.printStackTrace(err);
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  static String message(Exception failure) {
    boolean told =
        failure instanceof Failure
            || failure instanceof RdmaException
            || failure instanceof IllegalArgumentException;
    return told ? oneLine(failure.getMessage()) : oneLine(failure + "; --debug shows where");
  }

  private static String oneLine(@Nullable String message) {
    return Objects.requireNonNullElse(message, "").strip().replaceAll("\\R\\s*", " ");
  }

  private static int misused(ParameterException misuse, String[] args) {
    CommandLine command = misuse.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    command
        .getErr()
        .println(name + ": " + oneLine(misuse.getMessage()) + " (see " + name + " --help)");
    return CommandLine.ExitCode.USAGE;
  }

  /** The version that the jar's manifest names. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {
        "rdma4j-samples " + Objects.requireNonNullElse(version, "(not from its jar)")
      };
    }
  }
}
