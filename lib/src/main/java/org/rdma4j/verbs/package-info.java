/**
 * The verbs, as in libibverbs: devices, memory regions, completion queues, queue pairs, and the
 * work requests that they carry out. Use this package if you want to control each request yourself.
 * The package {@link org.rdma4j.connection} needs less code.
 *
 * <h2>How a program uses it</h2>
 *
 * <ol>
 *   <li>It opens a device, {@link org.rdma4j.verbs.RdmaDevice#open(String)}, and allocates a {@link
 *       org.rdma4j.verbs.ProtectionDomain}. Queue pairs can access only memory of their own domain.
 *   <li>It registers memory, which gives a {@link org.rdma4j.verbs.MemoryRegion}. The device reads
 *       and writes this memory by itself, so it is outside the Java heap.
 *   <li>It creates a {@link org.rdma4j.verbs.CompletionQueue}, on which the device reports the
 *       requests that it has finished.
 *   <li>It creates a {@link org.rdma4j.verbs.QueuePair}, one end of a connection.
 *   <li>It exchanges addresses with the peer, {@link org.rdma4j.verbs.QueuePair#address}, over TCP
 *       or in any other way, and connects, {@link org.rdma4j.verbs.QueuePair#connect}. Or it lets
 *       the connection manager do that, {@link org.rdma4j.cm}.
 *   <li>It posts receives, {@link org.rdma4j.verbs.ReceiveRequests}, and sends, {@link
 *       org.rdma4j.verbs.SendRequests}. A send is also a request that reads or writes memory of the
 *       peer.
 *   <li>It waits for completions, {@link org.rdma4j.verbs.Completions}. The memory of a request
 *       belongs to the device until the request has completed.
 *   <li>It closes what it has created. Closing the device closes all of it.
 * </ol>
 *
 * <p>Two queue pairs of one process, of which one sends a message to the other:
 *
 * {@snippet :
 * try (var device = RdmaDevice.open("rxe0");
 *     var domain = device.allocateProtectionDomain();
 *     var memory = domain.register(4096, AccessFlag.LOCAL_WRITE);
 *     var queue = device.createCompletionQueue(4);
 *     var left = domain.createQueuePair(QueuePairConfig.reliable(queue));
 *     var right = domain.createQueuePair(QueuePairConfig.reliable(queue))) {
 *   left.connect(PathConfig.to(right.address()));
 *   right.connect(PathConfig.to(left.address()));
 *
 *   memory.segment().setString(0, "hello");
 *   right.receiveRequests(1).add(7).into(memory, 2048, 64).post();
 *   left.sendRequests(1).add(8).from(memory, 0, 6).post();
 *
 *   Completions completions = queue.completions(1);
 *   while (completions.poll() == 0) { // the send is not signaled, so this is the receive
 *     Thread.onSpinWait();
 *   }
 *   completions.requireSuccess(0);
 *   System.out.println(memory.segment().getString(2048));
 * }
 * }
 *
 * <h2>Types by subject</h2>
 *
 * <dl>
 *   <dt>Devices
 *   <dd>{@link org.rdma4j.verbs.RdmaDevice}, {@link org.rdma4j.verbs.Port}, {@link
 *       org.rdma4j.verbs.RdmaAvailability}, {@link org.rdma4j.verbs.DeviceInfo}, {@link
 *       org.rdma4j.verbs.DeviceOperation}, {@link org.rdma4j.verbs.AsyncEvent}, {@link
 *       org.rdma4j.verbs.AsyncEventType}; what a device can do, in {@link
 *       org.rdma4j.verbs.attribute}; GIDs and other addresses, in {@link org.rdma4j.verbs.address}
 *   <dt>Memory
 *   <dd>{@link org.rdma4j.verbs.ProtectionDomain}, {@link org.rdma4j.verbs.MemoryRegion}, {@link
 *       org.rdma4j.verbs.MemoryRegionConfig}, {@link org.rdma4j.verbs.MemorySlice}, {@link
 *       org.rdma4j.verbs.RemoteMemory}, {@link org.rdma4j.verbs.ImplicitRegion}, {@link
 *       org.rdma4j.verbs.MemoryRegionChange}, {@link org.rdma4j.verbs.AccessFlag}, {@link
 *       org.rdma4j.verbs.HugePages}, {@link org.rdma4j.verbs.MemoryAdvice}, {@link
 *       org.rdma4j.verbs.MemoryWindow}, {@link org.rdma4j.verbs.MemoryWindowType}, {@link
 *       org.rdma4j.verbs.DeviceMemory}, {@link org.rdma4j.verbs.DmaBuffer}, {@link
 *       org.rdma4j.verbs.DmaHandle}, {@link org.rdma4j.verbs.DmaHandleConfig}; pools of registered
 *       memory, in {@link org.rdma4j.memory}
 *   <dt>Completions
 *   <dd>{@link org.rdma4j.verbs.CompletionQueue}, {@link org.rdma4j.verbs.CompletionQueueConfig},
 *       {@link org.rdma4j.verbs.Completions}, {@link org.rdma4j.verbs.CompletionStatus}, {@link
 *       org.rdma4j.verbs.CompletionOpcode}, {@link org.rdma4j.verbs.CompletionField}, {@link
 *       org.rdma4j.verbs.CompletionChannel}, {@link org.rdma4j.verbs.WorkCompletionException};
 *       counts instead of completions, {@link org.rdma4j.verbs.CompletionCounter}, {@link
 *       org.rdma4j.verbs.CompletionCounterType}
 *   <dt>Queue pairs
 *   <dd>{@link org.rdma4j.verbs.QueuePair}, {@link org.rdma4j.verbs.QueuePairConfig}, {@link
 *       org.rdma4j.verbs.QueuePairType}, {@link org.rdma4j.verbs.QueueAccess}, {@link
 *       org.rdma4j.verbs.QueuePairFlag}, {@link org.rdma4j.verbs.QueuePairCapabilities}, {@link
 *       org.rdma4j.verbs.QueuePairAttributes}, {@link org.rdma4j.verbs.QueuePairState}, {@link
 *       org.rdma4j.verbs.QueuePairChange}, {@link org.rdma4j.verbs.PathConfig}, {@link
 *       org.rdma4j.verbs.PathMigrationState}, {@link org.rdma4j.verbs.RateLimit}, {@link
 *       org.rdma4j.verbs.Ece}; the destination of datagrams, {@link org.rdma4j.verbs.AddressHandle}
 *   <dt>Requests
 *   <dd>{@link org.rdma4j.verbs.SendRequests}, {@link org.rdma4j.verbs.SendOperation}, {@link
 *       org.rdma4j.verbs.FlushType}, {@link org.rdma4j.verbs.DataOrder}, {@link
 *       org.rdma4j.verbs.ReceiveRequests}, {@link org.rdma4j.verbs.PostException}; requests that
 *       are built once and posted many times, {@link org.rdma4j.verbs.PreparedSends}, {@link
 *       org.rdma4j.verbs.PreparedReceives}, {@link org.rdma4j.verbs.PreparedRequests}
 *   <dt>Further objects
 *   <dd>Receives for many queue pairs: {@link org.rdma4j.verbs.SharedReceiveQueue}, {@link
 *       org.rdma4j.verbs.SharedReceiveQueueConfig}, {@link
 *       org.rdma4j.verbs.SharedReceiveQueueAttributes}, {@link
 *       org.rdma4j.verbs.SharedReceiveQueueType}; matching of tagged messages, {@link
 *       org.rdma4j.verbs.TagOperations}; extended reliable connections, {@link
 *       org.rdma4j.verbs.XrcDomain}. Receives of raw packets on many queues: {@link
 *       org.rdma4j.verbs.WorkQueue}, {@link org.rdma4j.verbs.WorkQueueConfig}, {@link
 *       org.rdma4j.verbs.WorkQueueFlag}, {@link org.rdma4j.verbs.WorkQueueState}, {@link
 *       org.rdma4j.verbs.IndirectionTable}, {@link org.rdma4j.verbs.ReceiveHash}; flow steering, in
 *       {@link org.rdma4j.flow}. Queues without locks: {@link org.rdma4j.verbs.ThreadDomain}
 * </dl>
 *
 * <h2>Creation</h2>
 *
 * An object creates what depends on it, by a method that is named after the C function: {@code
 * device.createCompletionQueue(config)}, {@code domain.register(config)}. What describes an object
 * at its creation is a <i>Config</i>, what changes it later is a <i>Change</i>, and what a query
 * returns are its <i>Attributes</i>.
 *
 * <h2>Lifetimes</h2>
 *
 * An object that has a native counterpart has a method {@code close()}, which any thread may call
 * at any time. Closing an object first closes everything that depends on it, the youngest first: a
 * queue pair depends on its protection domain and its completion queues, and everything depends on
 * the device. Closing an object again does nothing. A method throws {@link
 * java.lang.IllegalStateException} if its object, or an object that it is given, is closed; the
 * descriptions mention this only where there is more to say. An object that is dropped without
 * being closed is reported once by the logger {@code org.rdma4j}; with the system property {@code
 * org.rdma4j.leaks=stack}, the report contains the stack that created it.
 *
 * <h2>Threads</h2>
 *
 * Any thread may use any object, except the objects of the data path: {@link
 * org.rdma4j.verbs.SendRequests}, {@link org.rdma4j.verbs.ReceiveRequests}, {@link
 * org.rdma4j.verbs.TagOperations} and {@link org.rdma4j.verbs.Completions}. Each of them belongs to
 * the first thread that uses it, until that thread releases it. The use by another thread throws
 * {@link java.lang.IllegalStateException}. Threads that share a queue pair or a completion queue
 * create one each.
 *
 * <h2>Arguments</h2>
 *
 * Arguments are checked before C sees them. A number out of its range throws {@link
 * java.lang.IllegalArgumentException} with the value and the range. A null argument throws {@link
 * java.lang.NullPointerException}, unless its documentation allows null.
 */
@NullMarked
package org.rdma4j.verbs;

import org.jspecify.annotations.NullMarked;
