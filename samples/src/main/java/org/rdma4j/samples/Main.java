package org.rdma4j.samples;

import static java.util.Map.entry;

import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;
import org.rdma4j.samples.cm.Cmtime;
import org.rdma4j.samples.cm.Mckey;
import org.rdma4j.samples.cm.RdmaClientProgram;
import org.rdma4j.samples.cm.RdmaServerProgram;
import org.rdma4j.samples.cm.Rping;
import org.rdma4j.samples.cm.Ucmatose;
import org.rdma4j.samples.cm.Udaddy;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.Version;
import org.rdma4j.samples.devices.AsyncWatch;
import org.rdma4j.samples.devices.DevInfo;
import org.rdma4j.samples.devices.Devices;
import org.rdma4j.samples.doctor.Doctor;
import org.rdma4j.samples.keyvalue.KeyValue;
import org.rdma4j.samples.messages.ConnectionPingPong;
import org.rdma4j.samples.messages.EndpointPingPong;
import org.rdma4j.samples.messages.RcExample;
import org.rdma4j.samples.messages.ReadWriteDemo;
import org.rdma4j.samples.messages.Srq;
import org.rdma4j.samples.perftest.AtomicBw;
import org.rdma4j.samples.perftest.AtomicLat;
import org.rdma4j.samples.perftest.Compare;
import org.rdma4j.samples.perftest.ReadBw;
import org.rdma4j.samples.perftest.ReadLat;
import org.rdma4j.samples.perftest.SendBw;
import org.rdma4j.samples.perftest.SendLat;
import org.rdma4j.samples.perftest.WriteBw;
import org.rdma4j.samples.perftest.WriteLat;
import org.rdma4j.samples.pingpong.RcPingPong;
import org.rdma4j.samples.pingpong.SrqPingPong;
import org.rdma4j.samples.pingpong.UcPingPong;
import org.rdma4j.samples.pingpong.UdPingPong;
import org.rdma4j.samples.rcopy.Rcopy;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

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
  static final String INVOCATION = "java -jar rdma4j-samples.jar";

  private static final List<Entry<String, Class<?>>> SUBCOMMANDS =
      List.of(
          entry("devices", Devices.class),
          entry("devinfo", DevInfo.class),
          entry("doctor", Doctor.class),
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
          entry("rdma-client", RdmaClientProgram.class),
          entry("rdma-server", RdmaServerProgram.class),
          entry("ucmatose", Ucmatose.class),
          entry("udaddy", Udaddy.class),
          entry("mckey", Mckey.class),
          entry("cmtime", Cmtime.class),
          entry("srq", Srq.class),
          entry("rcopy", Rcopy.class),
          entry("key-value", KeyValue.class),
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
            "%s: %s (see %s --help)"
                .formatted(
                    name(command),
                    Failure.oneLine(misuse.getMessage()),
                    command.getCommandSpec().qualifiedName()));
    return CommandLine.ExitCode.USAGE;
  }

  private static String name(CommandLine command) {
    return command.getParent() == null ? "rdma4j-samples" : command.getCommandName();
  }
}
