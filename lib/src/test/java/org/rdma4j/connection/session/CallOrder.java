package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.IdentityHashMap;

/**
 * The order in which a user of one end called: what was asked for first begins first, whether it is
 * a message or an operation.
 */
final class CallOrder {
  private final String name;
  private final IdentityHashMap<Request, Integer> numbers = new IdentityHashMap<>();
  private int calls;
  private int lastPosted;

  CallOrder(String name) {
    this.name = name;
  }

  /** Records that the user asks for this now. */
  void called(Request request) {
    numbers.put(request, ++calls);
  }

  /** Records that the device gets it. */
  void posted(Request request) {
    if (request.isOfUser()) {
      int number = numbers.getOrDefault(request, -1);
      assertThat(number).as("%s begins what was called for later", name).isGreaterThan(lastPosted);
      lastPosted = number;
    }
  }

  /** Returns whether the device has got it. */
  boolean isPosted(Request request) {
    return numbers.getOrDefault(request, 0) <= lastPosted;
  }
}
