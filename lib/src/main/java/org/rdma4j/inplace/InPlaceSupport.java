package org.rdma4j.inplace;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Libc;

/** Whether and how the queues of a device are used in place. */
public final class InPlaceSupport {
  private final Mlx5Objects objects;
  private final Map<String, String> environment;

  private InPlaceSupport(Mlx5Objects objects, Map<String, String> environment) {
    this.objects = objects;
    this.environment = environment;
  }

  /**
   * The answer for a device.
   *
   * @param support how its queues are used; null if they cannot be
   * @param reason why they cannot be; null if they can
   */
  public record Answer(@Nullable InPlaceSupport support, @Nullable String reason) {
    private static Answer no(String reason) {
      return new Answer(null, reason);
    }
  }

  /**
   * Finds out whether the queues of a device can be used in place.
   *
   * @param postSend the function with which the provider of the device posts
   */
  public static Answer of(long postSend) {
    return of(postSend, System.getProperty("os.arch"), System.getenv());
  }

  static Answer of(long postSend, String processor, Map<String, String> environment) {
    if (!processor.toLowerCase(Locale.ROOT).equals("amd64")) {
      return Answer.no(
          "the processor is "
              + processor
              + ", must be amd64, because the fences of Java do not order writes to devices on"
              + " others");
    }
    String library = Libc.dladdr(postSend).object();
    if (!library.contains("/libmlx5")) {
      return Answer.no("its provider is " + library + ", must be libmlx5");
    }
    for (String signature : new String[] {"MLX5_QP_SIGNATURE", "MLX5_SRQ_SIGNATURE"}) {
      if (isSet(environment, signature, false)) {
        return Answer.no(
            "the environment has " + signature + ", and requests are not signed; remove it");
      }
    }
    if (isSet(environment, "MLX5_SCATTER_TO_CQE", false)) {
      return Answer.no(
          "the environment has MLX5_SCATTER_TO_CQE, and messages are not copied out of"
              + " completions; remove it");
    }
    try {
      return new Answer(new InPlaceSupport(new Mlx5Objects(library), environment), null);
    } catch (IllegalArgumentException notFound) {
      return Answer.no(String.valueOf(notFound.getMessage()));
    }
  }

  Mlx5Objects objects() {
    return objects;
  }

  /** Returns whether requests are written into BlueFlame registers at all. */
  boolean usesRegisters() {
    return !isSet(environment, "MLX5_SHUT_UP_BF", false);
  }

  /** Returns whether also requests that are not inline are written there. */
  boolean prefersRegisters() {
    return isSet(environment, "MLX5_POST_SEND_PREFER_BF", true);
  }

  private static boolean isSet(Map<String, String> environment, String name, boolean otherwise) {
    String value = environment.get(name);
    return value == null ? otherwise : !value.equals("0");
  }
}
