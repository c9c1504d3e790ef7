package org.rdma4j.samples.keyvalue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Puts values into the cache of a server, and gets them. */
@Command(
    description = {
      "Puts values into the cache of a server, and gets them by reading the server's memory.",
      "Without a server name this program is the server, which must be started first."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class KeyValue implements Callable<Integer> {
  private static final int SLOTS = 1024;

  @Mixin final CommonOptions common = new CommonOptions();

  @Parameters(index = "0", arity = "0..1", paramLabel = "SERVER", description = "its address")
  @Nullable String server;

  @Parameters(index = "1", arity = "0..1", paramLabel = "KEY", description = "the key")
  @Nullable String key;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "VALUE",
      description = "the value to put; without it, the value that the key has is printed")
  @Nullable String value;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port (default: ${DEFAULT-VALUE})")
  int port = 7472;

  @Override
  public Integer call() throws InterruptedException {
    common.check();
    common.checkRange("-p", port, 1, 65535);
    if (server == null) {
      try (KeyValueServer cache = new KeyValueServer(CommonOptions.address(null, port), SLOTS)) {
        while (true) {
          cache.accept();
        }
      }
    }
    if (key == null) {
      throw common.misuse("the key is missing: give it after the server");
    }
    try (KeyValueClient client =
        new KeyValueClient(CommonOptions.address(server, port), common.timeout())) {
      if (value == null) {
        byte[] found = client.get(key).orElseThrow(() -> new Failure("the cache has no such key"));
        common.out().println(new String(found, UTF_8));
      } else {
        client.put(key, value.getBytes(UTF_8));
      }
    } catch (TimeoutException late) {
      throw common.late("a step of the client");
    }
    return 0;
  }
}
