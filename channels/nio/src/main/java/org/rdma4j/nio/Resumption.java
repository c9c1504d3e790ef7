package org.rdma4j.nio;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.HandoverException;
import org.rdma4j.nio.handover.Resume;

/**
 * Lets a channel whose RDMA connection has failed go on over TCP, in a thread of its own: exchanges
 * the records of the {@link Resume}, and sends again what the peer lacks. Until the peer's record
 * was accepted no other thread reads behind the peer's offset, and until all was sent again none
 * writes to TCP.
 *
 * <p>A server begins: its client has its offset, or searches for the record. So does a client that
 * knows that the server has its offset. Otherwise it waits for the server's record, because the
 * server might take its own for bytes of the stream. A server that has begun without the client's
 * offset searches, too, and says that the rest may follow once it has found the client's record.
 *
 * <p>If the peer has no resume to offer, the connection ends as {@link GonePeer} describes.
 */
final class Resumption {
  /**
   * How long the peer has for its record. A peer that cannot resume closes TCP. A peer that has not
   * noticed the failure, or whose packets are lost for a while, needs longer.
   */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /**
   * How long the kernel of a peer whose process has ended may take to end TCP. Until then nothing
   * is written to TCP: unread bytes would make a reset of an end.
   */
  private static final long GONE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final Duration PAUSE = Duration.ofMillis(10);

  private final Upgrade upgrade;
  private final TcpEnd tcp;
  private final RdmaStream stream;
  private final boolean mayBeGone;
  private final String reason;

  /** Whether the peer may send the rest: nothing but bytes of the stream may follow then. */
  private boolean readied;

  private Resumption(Upgrade upgrade, boolean mayBeGone, String reason) {
    this.upgrade = upgrade;
    this.tcp = upgrade.tcp();
    this.stream = upgrade.stream();
    this.mayBeGone = mayBeGone;
    this.reason = reason;
  }

  /**
   * Begins to resume. The stream must have stalled.
   *
   * @param mayBeGone whether RDMA has failed as if the peer's process had ended
   * @param reason why RDMA has failed
   */
  static void begin(Upgrade upgrade, boolean mayBeGone, String reason) {
    Resumption resumption = new Resumption(upgrade, mayBeGone, reason);
    var unused = ChannelThreads.start("rdma4j-nio-resume", resumption::run);
  }

  /**
   * Lets a peer that waits for a record of this side know that none comes. An end of TCP would say
   * the same, but after the end of a process it is the end of the stream.
   */
  static void refuse(Upgrade upgrade) {
    if (upgrade.mayRefuseResume()) {
      // A write to TCP may wait.
      var unused = ChannelThreads.start("rdma4j-nio-resume", () -> writeRefusal(upgrade));
    }
  }

  private static void writeRefusal(Upgrade upgrade) {
    ByteBuffer one = ByteBuffer.allocate(1).put(0, Resume.REFUSAL);
    try {
      var unused = upgrade.tcp().writeTcp(new ByteBuffer[] {one}, 0, 1);
    } catch (IOException closedMeanwhile) {
      upgrade
          .rendezvous()
          .log(upgrade.name(), "the peer is not notified of the failure: " + closedMeanwhile);
    }
  }

  private void run() {
    try {
      if (isGone()) {
        GonePeer.ended(upgrade);
        return;
      }
      Resume resume = upgrade.resume();
      boolean begins = upgrade.mayBeginResume();
      boolean searches = upgrade.input().offset() < 0;
      if (begins) {
        writeRecord(resume);
        if (!searches) {
          awaitNoReader();
          writeReady();
        }
      }
      awaitReader();
      awaitNoReader();
      ByteBuffer record = readRecord();
      int again = (int) resume.accept(record, upgrade.input().offset());
      if (!begins) {
        // The peer has this side's offset, or searches: its record says so.
        writeRecord(resume);
      }
      if (!begins || searches) {
        writeReady();
      }
      readReady();
      upgrade.inputResumed(resume);
      ByteBuffer rest = stream.kept().takeLast(again);
      write(rest);
      upgrade.output().wrote(rest, 0, again);
      upgrade.outputResumed(again, reason);
    } catch (HandoverException | IOException | RuntimeException failed) {
      fail(String.valueOf(failed));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      fail("interrupted");
    } finally {
      tcp.output().move(upgrade);
    }
  }

  private void fail(String why) {
    upgrade.rendezvous().log(upgrade.name(), "does not resume over TCP: " + why);
    if (!readied) {
      refuse(upgrade);
    }
    upgrade.resumeFailed();
  }

  /** Waits whether TCP has ended, too, because the peer's process has. */
  private boolean isGone() throws InterruptedException {
    if (!mayBeGone || !stream.isComplete()) {
      return false;
    }
    long began = System.nanoTime();
    TcpTable table = upgrade.rendezvous().tcpTable();
    do {
      if (table.state(upgrade.local(), tcp.remote()) != TcpTable.State.OPEN) {
        return true;
      }
      Thread.sleep(PAUSE);
    } while (System.nanoTime() - began < GONE_NANOS);
    return false;
  }

  /** Writes all, however slowly the peer reads, as the kernel would; a close of TCP ends it. */
  private void write(ByteBuffer bytes) throws IOException, InterruptedException {
    ByteBuffer[] single = {bytes};
    while (bytes.hasRemaining()) {
      if (tcp.writeTcp(single, 0, 1) == 0) {
        Thread.sleep(PAUSE);
      }
    }
  }

  /**
   * Waits until the program has read what came over TCP before the upgrade: the record is behind
   * that. A program that reads nothing for long may wait for its own bytes to be sent.
   */
  private void awaitReader() throws IOException, InterruptedException {
    long progress = System.nanoTime();
    long read = upgrade.input().readOverTcp();
    while (!upgrade.input().hasReadTcp()) {
      long now = upgrade.input().readOverTcp();
      if (now != read) {
        read = now;
        progress = System.nanoTime();
      }
      if (!tcp.isOpen() || System.nanoTime() - progress >= PATIENCE_NANOS) {
        throw new IOException(
            "after %d bytes over TCP of %d, the program does not read, or nothing comes"
                .formatted(read, upgrade.input().offset()));
      }
      if (tcp.input().isShut()) {
        dropTcp();
      } else if (upgrade.input().offset() < 0) {
        search();
      }
      if (!upgrade.input().hasReadTcp()) {
        Thread.sleep(PAUSE);
      }
    }
  }

  /** Looks for the record of the peer if the program does not read. */
  private void search() throws IOException {
    var late = upgrade.rendezvous().later(Duration.ofNanos(PATIENCE_NANOS), tcp::endTcpInput);
    try {
      tcp.input().search(upgrade);
    } catch (SocketTimeoutException again) {
      return;
    } finally {
      late.cancel(false);
    }
    if (upgrade.input().isReady()) {
      // A selector does not see over TCP what was read from there.
      tcp.ready(SelectionKey.OP_READ);
    }
    if (upgrade.input().source() == Handover.Source.UNDECIDED) {
      throw new IOException("the peer has ended TCP without a resume");
    }
  }

  /** The program does not read what came before the upgrade, and nothing behind that. */
  private void dropTcp() throws IOException {
    try {
      tcp.input().dropTcp(upgrade);
    } catch (SocketTimeoutException again) {
      return;
    }
    if (upgrade.input().hasReadTcp()) {
      tcp.input().drop(upgrade);
    }
  }

  /** The timeout of a socket is that of its program, and does not matter here. */
  private int readTcp(ByteBuffer record) throws IOException {
    try {
      return tcp.readTcp(record);
    } catch (SocketTimeoutException again) {
      return 0;
    }
  }

  private void writeRecord(Resume resume) throws IOException, InterruptedException {
    tcp.output().stop(upgrade);
    write(resume.record(upgrade.output().offset()));
  }

  private void writeReady() throws IOException, InterruptedException {
    readied = true;
    write(ByteBuffer.wrap(new byte[] {Resume.READY}));
  }

  /**
   * Waits until no thread reads from TCP. A thread that had begun before the peer named its offset
   * is woken by the peer's record at the latest, and may take that.
   */
  private void awaitNoReader() throws IOException, InterruptedException {
    long began = System.nanoTime();
    while (tcp.input().readsTcp()) {
      if (System.nanoTime() - began >= PATIENCE_NANOS) {
        tcp.endTcpInput();
        throw new IOException("the peer has sent nothing for the resume");
      }
      Thread.sleep(PAUSE);
    }
  }

  private ByteBuffer readRecord() throws IOException, InterruptedException {
    ByteBuffer record = ByteBuffer.allocate(Resume.RECORD_BYTES);
    readBytes(record.limit(1));
    if (upgrade.wakeUp().take(record.get(0))) {
      readBytes(record.clear().limit(1));
    }
    if (record.get(0) == Resume.REFUSAL) {
      throw new IOException("the peer cannot resume");
    }
    return readBytes(record.limit(Resume.RECORD_BYTES)).flip();
  }

  private void readReady() throws HandoverException, IOException, InterruptedException {
    byte ready = readBytes(ByteBuffer.allocate(1)).get(0);
    if (ready != Resume.READY) {
      throw new HandoverException("the peer has sent %d behind its record".formatted(ready));
    }
  }

  /** Fills a buffer with what the peer sends, of which a reader may have taken the begin. */
  private ByteBuffer readBytes(ByteBuffer target) throws IOException, InterruptedException {
    upgrade.wakeUp().giveEarly(target);
    long began = System.nanoTime();
    // A blocking read has no other end.
    var late = upgrade.rendezvous().later(Duration.ofNanos(PATIENCE_NANOS), tcp::endTcpInput);
    try {
      while (target.hasRemaining()) {
        int count = readTcp(target);
        if (System.nanoTime() - began >= PATIENCE_NANOS) {
          throw new IOException("the peer has sent nothing for the resume");
        }
        if (count < 0) {
          throw new IOException("the peer has ended TCP without a resume");
        }
        if (count == 0) {
          Thread.sleep(1);
        }
      }
      return target;
    } finally {
      late.cancel(false);
    }
  }
}
