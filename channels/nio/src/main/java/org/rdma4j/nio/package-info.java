/**
 * RDMA for programs that use the channels of {@code java.nio}, without a change to them.
 *
 * <p>A program gets them by an option of Java, {@code
 * -Djava.nio.channels.spi.SelectorProvider=org.rdma4j.nio.RdmaSelectorProvider}, or asks for them:
 *
 * {@snippet :
 * var provider = new RdmaSelectorProvider();
 * try (var channel = provider.openSocketChannel()) {
 *   channel.connect(new InetSocketAddress("localhost", 7471));
 *   channel.write(UTF_8.encode("hello"));
 * }
 * }
 */
@NullMarked
package org.rdma4j.nio;

import org.jspecify.annotations.NullMarked;
