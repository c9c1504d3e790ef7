package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the threads of the library have in common with those of the program that starts them. */
@Tag("device")
@Timeout(120)
final class LibraryThreadsTest {
  private static final InheritableThreadLocal<Object> INHERITED = new InheritableThreadLocal<>();

  private RdmaSelectorProvider clients;
  private RdmaSelectorProvider servers;

  @BeforeEach
  void open() {
    clients = UpgradeTest.provider("");
    servers = UpgradeTest.provider("");
  }

  @AfterEach
  void close() {
    clients.rendezvous().close();
    servers.rendezvous().close();
  }

  private void upgradeAndClose() throws Exception {
    try (ServerSocketChannel listener = UpgradeTest.listen(servers);
        SocketChannel client = clients.openSocketChannel()) {
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
        UpgradeTest.greet(client, server);
      }
    }
  }

  /** Lets a thread with a class loader of its own begin, as that of a web application. */
  private List<WeakReference<Object>> beginInAnApplication() throws Exception {
    URLClassLoader loader = new URLClassLoader("application", new URL[0], null);
    Object value = new byte[10];
    FutureTask<Void> application =
        new FutureTask<>(
            () -> {
              INHERITED.set(value);
              upgradeAndClose();
              INHERITED.remove();
              return null;
            });
    Thread thread = Thread.ofPlatform().unstarted(application);
    thread.setContextClassLoader(loader);
    thread.start();
    application.get(60, TimeUnit.SECONDS);
    thread.join();
    loader.close();
    return List.of(new WeakReference<>(loader), new WeakReference<>(value));
  }

  @Test
  void theyKeepNoClassLoaderAndNoThreadLocalsOfTheProgram() throws Exception {
    for (WeakReference<Object> each : beginInAnApplication()) {
      UpgradeTest.await(
          () -> {
            System.gc();
            return each.refersTo(null);
          });
    }
  }

  @Test
  void busyVirtualThreadsOfTheProgramDelayNoClose() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> busy = new ArrayList<>();
    SocketChannel client = clients.openSocketChannel();
    try (ServerSocketChannel listener = UpgradeTest.listen(servers)) {
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
          busy.add(
              Thread.startVirtualThread(
                  () -> {
                    while (!over.get()) {
                      Thread.onSpinWait();
                    }
                  }));
        }
        // As long as this takes, virtual threads do not run at all.
        ChannelPair.Waiting<Integer> reader =
            ChannelPair.waiting(() -> server.read(ByteBuffer.allocate(1)));
        client.close();
        assertThat(reader.get()).isEqualTo(-1);
      }
    } finally {
      over.set(true);
      for (Thread each : busy) {
        each.join();
      }
    }
  }
}
