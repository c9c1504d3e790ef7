package org.rdma4j.samples.messages;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.endpoint.EndpointAddress;
import org.rdma4j.endpoint.EndpointConfig;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.Version;
import org.rdma4j.verbs.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Reads and writes the memory of another process, as the user or a script says. */
@Command(
    description = {
      "Connects two processes that read and write 1 MiB of each other's memory, as lines on their"
          + " standard input tell them.",
      "Without a server name this program is the server, which must be started first."
    },
    footer = {
      "",
      "Each line of input is a number, some with an argument. BYTES is 1048576 by default, all of"
          + " the memory:",
      "  1 [BYTES]  read the peer's memory into the local memory",
      "  2 [BYTES]  write the local memory to the peer's memory",
      "  3 [BYTES]  send the local memory as a message, for which the peer must run 4",
      "  4          receive a message into the local memory",
      "  5          show the start of the local memory",
      "  6 [TEXT]   fill the local memory with copies of a text",
      "  7          exit, as at the end of the input"
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class ReadWriteDemo implements Runnable {
  private static final int BYTES = 1 << 20;
  private static final int SHOWN = 32;
  private static final String MENU =
      "1 read  2 write  3 send  4 receive  5 show local buffer  6 fill local buffer  7 exit";

  @Mixin final EndpointOptions options = new EndpointOptions();

  /** The id of the last request. */
  private long last;

  @Override
  public void run() {
    options.check();
    EndpointConfig config =
        EndpointConfig.DEFAULT
            .bufferBytes(BYTES)
            .remoteAccess(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintWriter out = options.spec.commandLine().getOut();
    try (Endpoint endpoint = options.open(config)) {
      out.println("local:  " + text(endpoint.local()));
      out.println("remote: " + text(endpoint.remote()));
      if (endpoint.remote().bufferBytes() != BYTES) {
        throw new Failure(
            "the peer's memory has %d bytes instead of %d; check that the peer is read-write-demo"
                .formatted(endpoint.remote().bufferBytes(), BYTES));
      }
      out.println(MENU);
      EndpointWaits waits = new EndpointWaits(endpoint, options.peer.timeout());
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.strip().equals("7")) {
          break;
        }
        String done = execute(endpoint, waits, line.strip());
        out.println(done == null ? MENU : done);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Does what a line says and returns what to print, or null if the line is not a choice. */
  private @Nullable String execute(Endpoint endpoint, EndpointWaits waits, String line) {
    String[] words = line.split("\\s+", 2);
    String argument = words.length > 1 ? words[1] : "";
    return switch (words[0]) {
      case "1", "2", "3" -> transfer(endpoint, waits, words[0], argument);
      case "4" -> {
        endpoint.postReceive(++last, 0, BYTES);
        yield "received %d bytes".formatted(waits.awaitMessage(last, "the receive").bytes());
      }
      case "5" -> show(endpoint.buffer().segment());
      case "6" -> fill(endpoint.buffer().segment(), argument.isEmpty() ? "rdma4j " : argument);
      default -> null;
    };
  }

  private String transfer(Endpoint endpoint, EndpointWaits waits, String choice, String argument) {
    int bytes =
        argument.isEmpty() ? BYTES : argument.matches("\\d{1,7}") ? Integer.parseInt(argument) : 0;
    if (bytes < 1 || bytes > BYTES) {
      return "\"%s\" is not a number of bytes from 1 to %d".formatted(argument, BYTES);
    }
    switch (choice) {
      case "1" -> endpoint.postRead(++last, 0, bytes, 0);
      case "2" -> endpoint.postWrite(++last, 0, bytes, 0);
      default -> endpoint.postSend(++last, 0, bytes);
    }
    switch (choice) {
      case "1" -> waits.await(last, "the read");
      case "2" -> waits.await(last, "the write");
      default -> waits.await(last, "the send, for which the peer must run 4,");
    }
    return "%s %d bytes"
        .formatted(choice.equals("1") ? "read" : choice.equals("2") ? "wrote" : "sent", bytes);
  }

  private static String show(MemorySegment memory) {
    byte[] start = memory.asSlice(0, SHOWN).toArray(ValueLayout.JAVA_BYTE);
    StringBuilder text = new StringBuilder();
    for (byte b : start) {
      text.append(b >= ' ' && b < 0x7f ? (char) b : '.');
    }
    return "%s  %s".formatted(HexFormat.of().formatHex(start), text);
  }

  private static String fill(MemorySegment memory, String text) {
    byte[] pattern = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < BYTES; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, pattern[i % pattern.length]);
    }
    return "filled with \"%s\"".formatted(text);
  }

  private static String text(EndpointAddress address) {
    return "QPN 0x%06x, GID %s, address 0x%016x, rkey 0x%08x, %d bytes"
        .formatted(
            address.queuePair().queuePairNumber(),
            address.queuePair().gid(),
            address.bufferAddress(),
            address.bufferKey(),
            address.bufferBytes());
  }
}
