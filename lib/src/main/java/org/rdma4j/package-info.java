/**
 * The exceptions that all packages of this module throw.
 *
 * <p>In a process that cannot use RDMA at all, the first call that needs the native libraries
 * fails, and so does each later one. If a library is not installed, it throws {@link
 * org.rdma4j.MissingLibraryException}. If the JVM does not allow calls into C ({@code
 * --illegal-native-access=deny} without {@code --enable-native-access}), it throws {@link
 * org.rdma4j.RdmaException}, whose message names the option to add. Constants and configurations
 * work in such a process too. {@link org.rdma4j.verbs.RdmaDevice#availability} says without an
 * exception whether a process can use RDMA, and if not, why.
 *
 * {@snippet :
 * try (RdmaDevice device = RdmaDevice.open("rxe0")) {
 *   System.out.println(device.attributes().firmwareVersion());
 * } catch (MissingLibraryException missing) {
 *   System.err.println(missing.getMessage()); // with the package to install
 * } catch (RdmaException failed) {
 *   System.err.println(failed.getMessage()); // the C function, the errno, and what to do
 *   boolean none = failed.errno() == ErrorNumber.ENODEV.value();
 * }
 * }
 *
 * @see org.rdma4j.verbs.WorkCompletionException
 */
@NullMarked
package org.rdma4j;

import org.jspecify.annotations.NullMarked;
