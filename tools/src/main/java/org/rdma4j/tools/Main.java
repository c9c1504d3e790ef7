package org.rdma4j.tools;

import static java.util.Map.entry;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.cm.Cmtime;
import org.rdma4j.tools.cm.Mckey;
import org.rdma4j.tools.cm.RdmaClientProgram;
import org.rdma4j.tools.cm.RdmaServerProgram;
import org.rdma4j.tools.cm.Rping;
import org.rdma4j.tools.cm.Ucmatose;
import org.rdma4j.tools.cm.Udaddy;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.Version;
import org.rdma4j.tools.devices.AsyncWatch;
import org.rdma4j.tools.devices.DevInfo;
import org.rdma4j.tools.devices.Devices;
import org.rdma4j.tools.doctor.Doctor;
import org.rdma4j.tools.gain.Gain;
import org.rdma4j.tools.perftest.AtomicBw;
import org.rdma4j.tools.perftest.AtomicLat;
import org.rdma4j.tools.perftest.Compare;
import org.rdma4j.tools.perftest.ReadBw;
import org.rdma4j.tools.perftest.ReadLat;
import org.rdma4j.tools.perftest.SendBw;
import org.rdma4j.tools.perftest.SendLat;
import org.rdma4j.tools.perftest.WriteBw;
import org.rdma4j.tools.perftest.WriteLat;
import org.rdma4j.tools.pingpong.ConnectionPingPong;
import org.rdma4j.tools.pingpong.RcPingPongProgram;
import org.rdma4j.tools.pingpong.SrqPingPong;
import org.rdma4j.tools.pingpong.UcPingPong;
import org.rdma4j.tools.pingpong.UdPingPong;
import org.rdma4j.tools.selftest.SelfTest;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** Starts the program that the first argument names, and reports its failure in one line. */
@Command(
    name = Main.INVOCATION,
    description =
        "Programs that list RDMA devices, and exchange data over them with a copy of themselves or"
            + " with the program of the same name in rdma-core.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:success", "1:failure", "2:wrong usage"})
public final class Main implements Runnable {
  static final String INVOCATION = "java -jar rdma4j-tools.jar";

  private static final List<Entry<String, Class<?>>> SUBCOMMANDS =
      List.of(
          entry("devices", Devices.class),
          entry("devinfo", DevInfo.class),
          entry("doctor", Doctor.class),
          entry("selftest", SelfTest.class),
          entry("gain", Gain.class),
          entry("rc-pingpong", RcPingPongProgram.class),
          entry("uc-pingpong", UcPingPong.class),
          entry("ud-pingpong", UdPingPong.class),
          entry("srq-pingpong", SrqPingPong.class),
          entry("connection-pingpong", ConnectionPingPong.class),
          entry("asyncwatch", AsyncWatch.class),
          entry("rping", Rping.class),
          entry("rdma-client", RdmaClientProgram.class),
          entry("rdma-server", RdmaServerProgram.class),
          entry("ucmatose", Ucmatose.class),
          entry("udaddy", Udaddy.class),
          entry("mckey", Mckey.class),
          entry("cmtime", Cmtime.class),
          entry("send-lat", SendLat.class),
          entry("send-bw", SendBw.class),
          entry("write-lat", WriteLat.class),
          entry("write-bw", WriteBw.class),
          entry("read-lat", ReadLat.class),
          entry("read-bw", ReadBw.class),
          entry("atomic-lat", AtomicLat.class),
          entry("atomic-bw", AtomicBw.class),
          entry("compare", Compare.class));

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  private Main() {}

  /**
   * Runs a program and ends the process with its exit status.
   *
   * @param args the name of the program and its arguments
   */
  public static void main(String[] args) {
    Charset charset = Charset.defaultCharset();
    System.exit(
        run(
            new PrintWriter(new OutputStreamWriter(System.out, charset), true),
            new PrintWriter(new OutputStreamWriter(System.err, charset), true),
            args));
  }

  /**
   * Runs a program.
   *
   * @param out its standard output
   * @param err its standard error
   * @param args the name of the program and its arguments
   * @return its exit status
   */
  public static int run(PrintWriter out, PrintWriter err, String... args) {
    return commandLine(args.length == 0 ? "" : args[0])
        .setOut(out)
        .setErr(err)
        // The last one counts, as with getopt.
        .setOverwrittenOptionsAllowed(true)
        .setExecutionExceptionHandler(Main::reportFailure)
        .setParameterExceptionHandler(Main::reportMisuse)
        .execute(args);
  }

  /** Adds only one program: reading the options of all takes longer than most of them run. */
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
    throw new ParameterException(spec.commandLine(), "name a program to run");
  }

  private static int reportFailure(
      Exception failure, CommandLine command, @Nullable ParseResult parsed) {
    PrintWriter err = command.getErr();
    err.println(name(command) + ": " + Failure.describe(failure));
    if (parsed != null && parsed.expandedArgs().contains("--debug")) {
      failure.printStackTrace(err);
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  private static int reportMisuse(ParameterException misuse, String[] args) {
    CommandLine command = misuse.getCommandLine();
    command
        .getErr()
        .println(
            "%s: %s%s (see %s --help)"
                .formatted(
                    name(command),
                    Failure.oneLine(misuse.getMessage()),
                    suggestion(misuse),
                    command.getCommandSpec().qualifiedName()));
    return CommandLine.ExitCode.USAGE;
  }

  /** Returns the program whose name is most like the given one. */
  private static String suggestion(ParameterException misuse) {
    if (misuse instanceof UnmatchedArgumentException unmatched
        && misuse.getCommandLine().getParent() == null) {
      return unmatched.getSuggestions().stream()
          .findFirst()
          .map("; did you mean %s?"::formatted)
          .orElse("");
    }
    return "";
  }

  private static String name(CommandLine command) {
    return command.getParent() == null ? "rdma4j-tools" : command.getCommandName();
  }
}
