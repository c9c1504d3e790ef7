package org.rdma4j.samples.endpoint;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Two processes read and write 1 MiB of each other's memory, as lines on their standard input
 * request. Start the server without an argument, then the client with the server's host. It needs a
 * device of InfiniBand or RoCE.
 *
 * <pre>
 * java -jar samples/target/rdma4j-samples.jar read-write-demo [HOST [DEVICE]]
 * </pre>
 *
 * <p>A line is the number of a choice, some with an argument. The number of bytes is 1048576 by
 * default, all of the memory.
 */
public final class ReadWriteDemo {
  private static final int TCP_PORT = 18605;
  private static final int BYTES = 1 << 20;
  private static final int SHOWN = 32;
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private static final String MENU =
      """
      1 [BYTES]  read the peer's memory into the local memory
      2 [BYTES]  write the local memory to the peer's memory
      3 [BYTES]  send the local memory as a message, for which the peer must run 4
      4          receive a message into the local memory
      5          show the start of the local memory
      6 [TEXT]   fill the local memory with copies of a text
      7          exit, as at the end of the input\
      """;

  private final MemorySegment memory;
  private final Endpoint endpoint;
  private long id;

  ReadWriteDemo(MemorySegment memory, Endpoint endpoint) {
    this.memory = memory;
    this.endpoint = endpoint;
  }

  public static void main(String[] args) {
    MemorySegment memory = Arena.ofAuto().allocate(BYTES, 64);
    try (Endpoint endpoint =
        new Endpoint(args.length > 1 ? args[1] : firstDevice(), memory, 1, 1)) {
      if (args.length > 0) {
        endpoint.connectToPeer(args[0], TCP_PORT, TIMEOUT);
      } else {
        System.out.println("waiting for a client on TCP port " + TCP_PORT);
        endpoint.acceptPeer(TCP_PORT, TIMEOUT);
      }
      System.out.println("local: " + endpoint);
      System.out.println(MENU);
      new ReadWriteDemo(memory, endpoint).run();
    } catch (RdmaException | IllegalArgumentException | IOException | TimeoutException failure) {
      System.err.println("ReadWriteDemo: " + failure.getMessage());
      System.exit(1);
    }
  }

  private void run() throws IOException, TimeoutException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.strip().equals("7")) {
        return;
      }
      System.out.println(execute(line.strip()));
    }
  }

  /** Does what a line says, and returns what to print. */
  private String execute(String line) throws TimeoutException {
    String[] words = line.split("\\s+", 2);
    String argument = words.length > 1 ? words[1] : "";
    return switch (words[0]) {
      case "1", "2", "3" -> transfer(words[0], argument);
      case "4" -> receive();
      case "5" -> show();
      case "6" -> fill(argument.isEmpty() ? "rdma4j " : argument);
      default -> MENU;
    };
  }

  private String transfer(String choice, String argument) throws TimeoutException {
    int bytes =
        argument.isEmpty() ? BYTES : argument.matches("\\d{1,7}") ? Integer.parseInt(argument) : 0;
    if (bytes < 1 || bytes > BYTES) {
      return "\"%s\" is not a number of bytes from 1 to %d".formatted(argument, BYTES);
    }
    id++;
    switch (choice) {
      case "1" -> endpoint.postRead(id, 0, bytes, 0);
      case "2" -> endpoint.postWrite(id, 0, bytes, 0);
      default -> endpoint.postSend(id, 0, bytes);
    }
    endpoint.pollCompletion(id, TIMEOUT);
    return (choice.equals("1") ? "read " : choice.equals("2") ? "wrote " : "sent ")
        + bytes
        + " bytes";
  }

  private String receive() throws TimeoutException {
    endpoint.postReceive(++id, 0, BYTES);
    return "received " + endpoint.pollCompletion(id, TIMEOUT).bytes() + " bytes";
  }

  private String show() {
    byte[] start = memory.asSlice(0, SHOWN).toArray(ValueLayout.JAVA_BYTE);
    StringBuilder text = new StringBuilder();
    for (byte b : start) {
      text.append(b >= ' ' && b < 0x7f ? (char) b : '.');
    }
    return HexFormat.of().formatHex(start) + "  " + text;
  }

  private String fill(String text) {
    byte[] pattern = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < BYTES; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, pattern[i % pattern.length]);
    }
    return "filled with \"" + text + "\"";
  }

  private static String firstDevice() {
    return RdmaDevice.list().stream()
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("This machine has no RDMA device: run doctor."))
        .name();
  }
}
