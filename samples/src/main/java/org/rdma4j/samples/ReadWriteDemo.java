package org.rdma4j.samples;

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
import org.rdma4j.verbs.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Two processes that read and write each other's memory, by hand or by a script. */
@Command(
    description = {
      "Connects two processes that then read and write each other's 1 MiB of memory, one line of"
          + " standard input at a time. Without a server name it is the server, which is to be started"
          + " first."
    },
    footer = {
      "",
      "Each line is a choice, and what goes with it:",
      "  1 [BYTES]  read the peer's memory into the own (default: all of it)",
      "  2 [BYTES]  write the own memory to the peer's (default: all of it)",
      "  3 [BYTES]  send the own memory as a message, which waits for a 4 there (default: all of it)",
      "  4          receive a message into the own memory",
      "  5          show how the own memory begins",
      "  6 [TEXT]   fill the own memory with a text, over and over",
      "  7          exit, as the end of the input does"
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class ReadWriteDemo implements Runnable {
  private static final int BYTES = 1 << 20;
  private static final int SHOWN = 32;
  private static final String MENU =
      "1 read  2 write  3 send  4 receive  5 show local buffer  6 fill local buffer  7 exit";

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  EndpointOptions options;

  /** The id of the next request. */
  private long next;

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
            "the peer's memory has %d bytes, not %d: is it read-write-demo?"
                .formatted(endpoint.remote().bufferBytes(), BYTES));
      }
      out.println(MENU);
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.strip().equals("7")) {
          break;
        }
        String done = choose(endpoint, line.strip());
        out.println(done == null ? MENU : done);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** What was done, or why not; null where it is no choice. */
  private @Nullable String choose(Endpoint endpoint, String line) {
    String[] words = line.split("\\s+", 2);
    String argument = words.length > 1 ? words[1] : "";
    return switch (words[0]) {
      case "1", "2", "3" -> transfer(endpoint, words[0], argument);
      case "4" -> {
        endpoint.postReceive(++next, 0, BYTES);
        yield "received %d bytes".formatted(options.await(endpoint, next, "the receive").bytes());
      }
      case "5" -> show(endpoint.buffer().segment());
      case "6" -> fill(endpoint.buffer().segment(), argument.isEmpty() ? "rdma4j " : argument);
      default -> null;
    };
  }

  private String transfer(Endpoint endpoint, String choice, String argument) {
    int bytes =
        argument.isEmpty() ? BYTES : argument.matches("\\d{1,7}") ? Integer.parseInt(argument) : 0;
    if (bytes < 1 || bytes > BYTES) {
      return "\"%s\" is no number of bytes from 1 to %d".formatted(argument, BYTES);
    }
    switch (choice) {
      case "1" -> endpoint.postRead(++next, 0, bytes, 0);
      case "2" -> endpoint.postWrite(++next, 0, bytes, 0);
      default -> endpoint.postSend(++next, 0, bytes);
    }
    switch (choice) {
      case "1" -> options.await(endpoint, next, "the read");
      case "2" -> options.await(endpoint, next, "the write");
      default -> options.await(endpoint, next, "the send, for which the peer chooses 4,");
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
            GidText.address(address.queuePair().gid()),
            address.bufferAddress(),
            address.bufferKey(),
            address.bufferBytes());
  }
}
