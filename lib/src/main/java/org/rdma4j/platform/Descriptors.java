package org.rdma4j.platform;

import java.nio.file.Path;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;

/**
 * Whether this process can open files. libibverbs and librdmacm find the devices by opening files,
 * and take a file that they cannot open for a device that is not there. libibverbs loads the
 * libraries of the providers once, with the first device that it finds, and never again if they
 * could not be opened.
 */
public final class Descriptors {
  private static final Path ANY_FILE = Path.of("/dev/null");

  /** As many files as the search for devices has open at a time, and two more. */
  private static final int NEEDED = 6;

  private Descriptors() {}

  /**
   * Checks that some files can be opened, before a call that needs them, or after it found nothing.
   *
   * @param call the C function, for the message
   * @throws RdmaException if they cannot be opened: EMFILE if this process has too many files open,
   *     ENFILE if all processes together have
   */
  public static void require(String call) {
    int[] opened = new int[NEEDED];
    int count = 0;
    try {
      while (count < NEEDED) {
        opened[count] = Libc.open(ANY_FILE);
        count++;
      }
    } catch (RdmaException refused) {
      if (isShortage(refused.errno())) {
        throw new RdmaException(call, refused.errno());
      }
      // Without /dev/null, nothing is known.
    } finally {
      for (int i = 0; i < count; i++) {
        Libc.close(opened[i]);
      }
    }
  }

  /** Returns whether an errno value means that no file can be opened. */
  public static boolean isShortage(int errno) {
    return errno == ErrorNumber.EMFILE.value() || errno == ErrorNumber.ENFILE.value();
  }
}
