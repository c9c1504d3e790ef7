package org.rdma4j.samples;

import static java.util.Map.entry;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map.Entry;
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
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:it went well", "1:it failed", "2:wrong usage"})
public final class Main implements Runnable {
  private static final List<Entry<String, Class<?>>> SUBCOMMANDS =
      List.of(
          entry("devices", Devices.class),
          entry("devinfo", DevInfo.class),
          entry("rc-pingpong", RcPingPong.class),
          entry("uc-pingpong", UcPingPong.class),
          entry("ud-pingpong", UdPingPong.class),
          entry("srq-pingpong", SrqPingPong.class),
          entry("endpoint-pingpong", EndpointPingPong.class),
          entry("connection-pingpong", ConnectionPingPong.class),
          entry("read-write-demo", ReadWriteDemo.class),
          entry("rc-example", RcExample.class),
          entry("asyncwatch", AsyncWatch.class),
          entry("rping", Rping.class),
          entry("rdma-client", RdmaClient.class),
          entry("rdma-server", RdmaServer.class),
          entry("ucmatose", Ucmatose.class),
          entry("udaddy", Udaddy.class),
          entry("mckey", Mckey.class),
          entry("cmtime", Cmtime.class),
          entry("srq", Srq.class),
          entry("rcopy", Rcopy.class));

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
    return commandLine(args.length == 0 ? "" : args[0])
        .setOut(out)
        .setErr(err)
        // As getopt has it: the last one counts.
        .setOverwrittenOptionsAllowed(true)
        .setExecutionExceptionHandler(Main::failed)
        .setParameterExceptionHandler(Main::misused)
        .execute(args);
  }

  /** To read the options of all subcommands would take longer than most of them run. */
  private static CommandLine commandLine(String first) {
    boolean named = SUBCOMMANDS.stream().anyMatch(each -> each.getKey().equals(first));
    CommandLine main = new CommandLine(new Main());
    for (Entry<String, Class<?>> each : SUBCOMMANDS) {
      if (!named || each.getKey().equals(first)) {
        main.addSubcommand(each.getKey(), each.getValue());
      }
    }
    return main;
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
