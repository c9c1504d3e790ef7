package org.rdma4j.docs.guide;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ObjIntConsumer;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.QueuePair;

// snippet: dispatcher
/** One thread that waits for the completions of many queue pairs, as a DiSNI group does. */
final class Dispatcher implements Runnable {
  private final CompletionQueue queue;
  private final Map<Integer, ObjIntConsumer<Completions>> endpoints = new ConcurrentHashMap<>();

  Dispatcher(CompletionQueue queue) { // one with a completion channel
    this.queue = queue;
  }

  /** Call this after createQueuePair, and before anything is posted. */
  void add(QueuePair queuePair, ObjIntConsumer<Completions> endpoint) {
    endpoints.put(queuePair.number(), endpoint);
  }

  @Override
  public void run() {
    Completions completions = queue.completions(16); // of this thread
    try {
      while (true) {
        int polled = completions.await(Duration.ofHours(1));
        for (int i = 0; i < polled; i++) {
          ObjIntConsumer<Completions> endpoint = endpoints.get(completions.queuePairNumber(i));
          if (endpoint != null) {
            endpoint.accept(completions, i);
          }
        }
      }
    } catch (InterruptedException | IllegalStateException end) {
      // The queue was closed, or the thread was interrupted.
    }
  }
}
// end
