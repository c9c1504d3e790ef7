package org.rdma4j.tools.perftest;

import java.time.Duration;
import java.util.function.Function;

/**
 * A test, as its options describe it together. The numbers have the meaning that they have in
 * perftest.
 *
 * @param program the test
 * @param transport the type of the queue pairs
 * @param server whether no server was named
 * @param size the length of a message in bytes
 * @param sizeGiven whether the length was given
 * @param allSizes whether to test the lengths from 2 to 2^23 in turn
 * @param iterations the number of messages of each queue pair
 * @param warmup how many of them are not measured
 * @param seconds how long to test, or 0 to test the number of iterations
 * @param margin the seconds at the beginning and at the end that are not measured
 * @param infinitely whether to test until the program is ended
 * @param queuePairs the number of queue pairs
 * @param sendDepth the maximum number of outstanding requests of a queue pair
 * @param receiveDepth the number of posted receives of a queue pair
 * @param postList how many requests a call posts
 * @param receivePostList how many receives a call posts
 * @param moderation every how many requests one is signaled
 * @param inlineBytes the length up to which messages are inline, or -1 for the default
 * @param reads the number of outstanding reads and atomic operations, or 0 for the maximum
 * @param bothWays whether both sides send
 * @param events whether to sleep until a completion event arrives, rather than poll
 * @param peak whether to compute the peak bandwidth
 * @param compareAndSwap whether atomic operations are compare-and-swap, rather than fetch-and-add
 * @param gap the time between two messages of a latency test
 * @param timeout the longest time that the peer may be silent
 */
record Settings(
    Program program,
    Transport transport,
    boolean server,
    long size,
    boolean sizeGiven,
    boolean allSizes,
    long iterations,
    long warmup,
    int seconds,
    int margin,
    boolean infinitely,
    int queuePairs,
    int sendDepth,
    int receiveDepth,
    int postList,
    int receivePostList,
    int moderation,
    int inlineBytes,
    int reads,
    boolean bothWays,
    boolean events,
    boolean peak,
    boolean compareAndSwap,
    Duration gap,
    Duration timeout) {
  static final long MAX_SIZE = 8 << 20;
  static final int DEFAULT_RECEIVE_DEPTH = 512;
  static final int DEFAULT_MODERATION = 100;

  /** Beyond this length, a completion for each message costs little and is more exact. */
  private static final long MAX_MODERATED_SIZE = 8192;

  private static final long MAX_PEAK_ITERATIONS = 20_000;
  private static final int MAX_DATAGRAM_RECEIVES = 16_000;

  /** Returns whether the time ends the test, rather than the number of messages. */
  boolean isTimed() {
    return seconds > 0 || infinitely;
  }

  /** Returns whether this side posts the requests that are measured. */
  boolean sends() {
    return !server || bothWays || program.isPingPong();
  }

  /** Returns whether messages arrive in receives of this side. */
  boolean receives() {
    return program.verb() == Verb.SEND && (server || bothWays || !program.isBandwidth());
  }

  /** Returns a copy that tests another length. */
  Settings ofSize(long other) {
    return new Settings(
        program,
        transport,
        server,
        other,
        sizeGiven,
        allSizes,
        iterations,
        warmup,
        seconds,
        margin,
        infinitely,
        queuePairs,
        sendDepth,
        receiveDepth,
        postList,
        receivePostList,
        moderation,
        inlineBytes,
        reads,
        bothWays,
        events,
        peak,
        compareAndSwap,
        gap,
        timeout);
  }

  /** The options, which do not yet know each other. Its fields have the names of the settings. */
  static final class Draft {
    final Program program;
    Transport transport = Transport.RC;
    boolean server;
    long size;
    boolean sizeGiven;
    boolean allSizes;
    long iterations;
    long warmup;
    int seconds;
    int margin = -1;
    boolean infinitely;
    int queuePairs = 1;
    int sendDepth;
    int receiveDepth;
    int postList = 1;
    int receivePostList = 1;
    int moderation;
    int inlineBytes = -1;
    int reads;
    boolean bothWays;
    boolean events;
    boolean peak = true;
    boolean compareAndSwap;
    Duration gap = Duration.ZERO;
    Duration timeout = Duration.ofMinutes(1);
    private final Function<String, RuntimeException> misuse;

    /**
     * Begins with the defaults of a test.
     *
     * @param program the test
     * @param misuse creates the exception for wrong usage
     */
    Draft(Program program, Function<String, RuntimeException> misuse) {
      this.program = program;
      this.misuse = misuse;
      sendDepth = program.isBandwidth() ? 128 : 1;
      receiveDepth = program.verb() == Verb.SEND ? DEFAULT_RECEIVE_DEPTH : 1;
      size = program.verb() == Verb.ATOMIC ? Long.BYTES : program.isBandwidth() ? 65536 : 2;
      iterations = program == Program.WRITE_BW ? 5000 : 1000;
    }

    /**
     * Refuses combinations that make no sense, and adapts options to each other as perftest does.
     */
    Settings settings() {
      requireSense();
      if (allSizes) {
        size = MAX_SIZE;
      }
      if (infinitely) {
        seconds = seconds == 0 ? 5 : seconds;
      }
      boolean timed = seconds > 0;
      if (timed) {
        iterations = Long.MAX_VALUE;
        margin = margin < 0 ? seconds / 4 : margin;
        require(
            infinitely || seconds > 2 * margin,
            "-D is %d, must be more than twice -f (%d)".formatted(seconds, margin));
      } else {
        sendDepth = (int) Math.min(sendDepth, iterations);
        adaptReceiveDepth();
      }
      int signalEvery = moderation(timed);
      return new Settings(
          program,
          transport,
          server,
          size,
          sizeGiven,
          allSizes,
          iterations,
          warmup,
          seconds,
          Math.max(0, margin),
          infinitely,
          queuePairs,
          sendDepth,
          receiveDepth,
          postList,
          receivePostList,
          signalEvery,
          program.verb().fetches() ? 0 : inlineBytes,
          reads,
          bothWays,
          events,
          peak && !timed && warmup == 0 && iterations * queuePairs <= MAX_PEAK_ITERATIONS,
          compareAndSwap,
          gap,
          timeout);
    }

    private void adaptReceiveDepth() {
      if (program.verb() != Verb.SEND) {
        return;
      }
      // A message that finds no posted receive is lost.
      if (transport != Transport.RC && receiveDepth == DEFAULT_RECEIVE_DEPTH) {
        receiveDepth = (int) Math.min(iterations, MAX_DATAGRAM_RECEIVES);
      }
      receiveDepth = (int) Math.min(receiveDepth, iterations);
      if (receiveDepth % 2 == 1 && !allSizes) {
        receiveDepth++;
      }
    }

    private int moderation(boolean timed) {
      boolean large =
          size > MAX_MODERATED_SIZE && transport != Transport.UD && !allSizes && !events;
      int chosen = moderation > 0 ? moderation : large ? 1 : DEFAULT_MODERATION;
      chosen = Math.min(chosen, sendDepth);
      if (postList == 1) {
        return chosen;
      }
      require(
          timed || iterations % postList == 0,
          "-n is %d, must be a multiple of -l (%d)".formatted(iterations, postList));
      require(
          postList <= sendDepth,
          "-l is %d, must be at most -t (%d)".formatted(postList, sendDepth));
      if (moderation == 0) {
        return postList;
      }
      require(
          postList % moderation == 0,
          "-l is %d, must be a multiple of -Q (%d)".formatted(postList, moderation));
      return moderation;
    }

    private void requireSense() {
      Verb verb = program.verb();
      boolean timed = seconds > 0 || infinitely;
      require(transport != Transport.UD || verb == Verb.SEND, "-c UD is possible for sends only");
      require(
          transport != Transport.UC || !verb.fetches(),
          "-c UC is not possible for reads and atomic operations");
      require(
          !infinitely || !(bothWays && verb == Verb.SEND),
          "--run_infinitely and -b cannot be combined for sends");
      require(!timed || !allSizes, "-a cannot be combined with -D and --run_infinitely");
      require(!timed || !events, "-e cannot be combined with -D and --run_infinitely");
      require(
          !timed || warmup == 0,
          "--warmup cannot be combined with -D; use -f for the time that is not measured");
      require(
          warmup == 0 || warmup < iterations * queuePairs,
          "--warmup is %d, must be less than the number of messages, %d"
              .formatted(warmup, iterations * queuePairs));
      require(
          receivePostList == 1 || iterations % receivePostList == 0,
          "-n is %d, must be a multiple of --recv_post_list (%d)"
              .formatted(iterations, receivePostList));
    }

    private void require(boolean condition, String message) {
      if (!condition) {
        throw misuse.apply(message);
      }
    }
  }
}
