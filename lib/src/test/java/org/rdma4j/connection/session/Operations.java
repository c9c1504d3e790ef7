package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageKind;

/**
 * What the user of one end does with the memory of the peer, and the memory that it lets the peer
 * access. Each write fills a page of the peer with its number, so the page shows which came last.
 */
final class Operations {
  private static final int PAGE_LONGS = 3;
  private static final int COUNTER = PAGE_LONGS;
  private static final int SWAPPED = PAGE_LONGS + 1;
  private static final int MAX_WAITING = 3;

  private final End end;
  private final Session session;
  private final CallOrder order;

  /** The memory that the peer accesses. */
  private final UserRegion exposed = new UserRegion(PAGE_LONGS + 2);

  private final long address;

  /** Operations that have not ended, as far as the user waits or is notified of their end. */
  private final List<Operation> open = new ArrayList<>();

  /** Those of them that a thread waits for. */
  private final List<Operation> awaited = new ArrayList<>();

  private final List<Operation> writes = new ArrayList<>();
  private final List<Operation> all = new ArrayList<>();
  private int lastWritten;
  private int adds;
  private int swaps;
  private int begun;
  private int done;
  private int failed;
  private int abandoned;
  private int lostMessages;

  Operations(End end, CallOrder order) {
    this.end = end;
    this.session = end.session;
    this.order = order;
    this.address = end.host.share(exposed);
  }

  /** Returns the number of writes that were called. */
  int writes() {
    return writes.size();
  }

  int lostMessages() {
    return lostMessages;
  }

  /**
   * Begins an operation.
   *
   * @param waits whether a thread waits for the end, rather than being told
   */
  boolean begin(Operation.Kind kind, boolean waits) {
    boolean takesCredit =
        kind == Operation.Kind.WRITE_AND_NOTIFY || kind == Operation.Kind.SEND_MEMORY;
    if (waits && (awaited.size() == MAX_WAITING || !hasRoom(takesCredit))) {
      return false;
    }
    // All that can fail for lack of memory comes first.
    Buffer buffer = takesCredit ? end.host.pool.take() : null;
    Operation operation = newOperation(kind);
    Request request = operation.request;
    open.add(operation);
    all.add(operation);
    begun++;
    if (waits) {
      awaited.add(operation);
      request.awaitedBy(operation);
    } else {
      request.tell(operation, 0);
    }
    switch (kind) {
      case READ, WRITE -> operate(request, operation, 0);
      case ADD -> operate(request, operation, COUNTER);
      case SWAP -> operate(request, operation, SWAPPED);
      case WRITE_AND_NOTIFY -> addWrite(operation, Objects.requireNonNull(buffer));
      case SEND_MEMORY -> offer(operation, Objects.requireNonNull(buffer));
    }
    order.called(request);
    session.add(request);
    if (waits) {
      end.flush();
    } else {
      end.submitted();
    }
    return true;
  }

  private boolean hasRoom(boolean takesCredit) {
    return takesCredit ? session.hasRoomForMessage() : session.hasRoom();
  }

  private Operation newOperation(Operation.Kind kind) {
    boolean isPage = kind == Operation.Kind.READ || isWrite(kind);
    UserRegion local =
        new UserRegion(isPage ? PAGE_LONGS : kind == Operation.Kind.SEND_MEMORY ? sentLongs() : 1);
    int number =
        switch (kind) {
          case WRITE, WRITE_AND_NOTIFY -> writes.size() + 1;
          case ADD -> adds++;
          case SWAP -> swaps++;
          case READ -> writes.size();
          case SEND_MEMORY -> 0;
        };
    local.fill(isWrite(kind) ? number : -1);
    Operation made = new Operation(kind, number, local, lastWritten, session.newRequest());
    if (isWrite(kind)) {
      writes.add(made);
    }
    return made;
  }

  /** Memory that is sent is longer than the buffers of the peer, or fits into one. */
  private int sentLongs() {
    return begun % 2 == 0 ? 40 : 3;
  }

  private static boolean isWrite(Operation.Kind kind) {
    return kind == Operation.Kind.WRITE || kind == Operation.Kind.WRITE_AND_NOTIFY;
  }

  private void operate(Request request, Operation operation, int index) {
    Request.Operation posted =
        switch (operation.kind) {
          case READ -> Request.Operation.READ;
          case ADD -> Request.Operation.FETCH_AND_ADD;
          case SWAP -> Request.Operation.COMPARE_AND_SWAP;
          default -> Request.Operation.WRITE;
        };
    request.operate(
        posted,
        operation.local,
        operation.local.segment.byteSize(),
        end.peer().user.operations.address + (long) index * Long.BYTES,
        Host.SHARED);
    if (operation.kind == Operation.Kind.ADD) {
      request.operands(1, 0);
    } else if (operation.kind == Operation.Kind.SWAP) {
      request.operands(operation.number, operation.number + 1);
    }
  }

  /** Adds the write, after which the notice follows. */
  private void addWrite(Operation operation, Buffer empty) {
    Request write = session.newRequest();
    operation.first = write;
    operate(write, operation, 0);
    operation.message = end.user.nextMessage();
    operation.request.notice(operation.message, write);
    empty.become(MessageKind.NOTICE, 0, 0);
    order.called(write);
    session.add(operation.request.takeWrite(empty));
  }

  private void offer(Operation operation, Buffer carrier) {
    operation.message = end.user.nextMessage();
    User.write(operation.local.segment.asByteBuffer(), operation.message);
    Range range = end.host.expose(operation.local.segment, end.device);
    operation.range = range;
    carrier.fill(MessageKind.MESSAGE, end.user.offer(range).write());
    operation.request.offer(carrier, operation.local, range.segment.byteSize(), range);
  }

  /** Lets the threads go on that were woken; returns whether one did. */
  boolean resume() {
    boolean moved = false;
    for (Iterator<Operation> each = awaited.iterator(); each.hasNext(); ) {
      Operation operation = each.next();
      if (!operation.woken) {
        continue;
      }
      operation.woken = false;
      moved = true;
      if (operation.request.isDone()) {
        each.remove();
        ended(operation, operation.request.failure());
        session.recycle(operation.request);
      }
    }
    return moved;
  }

  /** The time of the thread that waits for longest is over: the operation goes on without it. */
  boolean giveUp() {
    if (awaited.isEmpty() || awaited.getFirst().local.isClosed()) {
      return false;
    }
    Operation first = awaited.removeFirst();
    if (first.request.isDone()) {
      ended(first, first.request.failure());
      session.recycle(first.request);
    } else {
      first.request.awaitedBy(null);
      open.remove(first);
      abandoned++;
    }
    return true;
  }

  /** Notes the end of an operation. */
  void ended(Operation operation, @Nullable RuntimeException failure) {
    assertThat(operation.ended).as("ends once: %s", operation.kind).isFalse();
    operation.ended = true;
    open.remove(operation);
    if (operation.range != null) {
      assertThat(operation.range.isAccessible())
          .as("whether the peer can access memory that the user has got back")
          .isFalse();
    }
    if (failure == null) {
      done++;
      checkDone(operation);
      return;
    }
    failed++;
    if (operation.message >= 0 && failure == operation.local.whyClosed()) {
      lostMessages++;
    }
    if (session.lifecycle().failure() == null && !session.lifecycle().isUseless()) {
      assertThat(failure)
          .as("why an operation fails while the connection is open")
          .isSameAs(operation.local.whyClosed());
    }
  }

  private void checkDone(Operation operation) {
    int value = (int) operation.local.get(0);
    switch (operation.kind) {
      case READ -> {
        assertThat(value).as("read").isBetween(operation.writtenBefore, operation.number);
        for (int i = 1; i < PAGE_LONGS; i++) {
          assertThat(operation.local.get(i)).as("read").isEqualTo(value);
        }
      }
      case WRITE, WRITE_AND_NOTIFY -> {
        checkWritten(operation.number);
        lastWritten = Math.max(lastWritten, operation.number);
      }
      case ADD, SWAP ->
          assertThat(value).as("%s finds", operation.kind).isBetween(0, operation.number);
      case SEND_MEMORY -> {}
    }
  }

  private void checkWritten(int number) {
    assertThat(end.peer().user.operations.exposed.get(0))
        .as("the last write that the peer of %s sees", end.name)
        .isGreaterThanOrEqualTo(number);
  }

  /**
   * Checks that what was written before a message is there when the message is.
   *
   * @param before how many writes were called before it
   */
  void checkWritten(int before, int message) {
    for (int i = before; i > 0; i--) {
      Operation write = writes.get(i - 1);
      if (write.message == message || !write.local.isClosed()) {
        checkWritten(write.number);
        return;
      }
    }
  }

  /** Closes memory of an operation that the device does not know yet. */
  boolean closeUnposted(int which) {
    List<Operation> unposted =
        open.stream()
            .filter(each -> !each.local.isClosed() && !each.request.isDone())
            .filter(each -> !order.isPosted(each.first))
            .toList();
    return close(unposted, which);
  }

  /** Closes memory of an operation, also if the device accesses it. */
  boolean closeAny(int which) {
    return close(open.stream().filter(each -> !each.local.isClosed()).toList(), which);
  }

  private boolean close(List<Operation> some, int which) {
    if (some.isEmpty()) {
      return false;
    }
    Operation chosen = some.get(Math.floorMod(which, some.size()));
    chosen.local.close();
    if (chosen.range != null) {
      chosen.range.closeRegion();
    }
    if (chosen.message >= 0) {
      end.user.mayLose(chosen.message);
    }
    return true;
  }

  /** Lets the peer access the memory no more. */
  void revoke() {
    end.host.revoke(address);
  }

  void checkAllEnded(String state) {
    assertThat(open).as("operations that have not ended: " + state).isEmpty();
    assertThat(done + failed + abandoned).as("operations: " + state).isEqualTo(begun);
  }

  /** Checks that no memory is in use any more. */
  void checkUsesEnded(String state) {
    assertThat(all.stream().filter(each -> each.local.isInUse()).map(each -> each.kind))
        .as("operations whose memory is in use: " + state)
        .isEmpty();
  }

  @Override
  public String toString() {
    return "operations begun %d, done %d, failed %d, abandoned %d"
        .formatted(begun, done, failed, abandoned);
  }
}
