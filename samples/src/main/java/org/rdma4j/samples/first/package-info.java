/**
 * First programs: each is one file, needs no other file, and does one thing. Their comments explain
 * each object and each call when it first appears, with the name of the C function.
 *
 * <p>Read them in this order:
 *
 * <ol>
 *   <li>{@link org.rdma4j.samples.first.SendAndReceive}: a message from one queue pair to another
 *       in the same process, with all the objects that this takes
 *   <li>{@link org.rdma4j.samples.first.RcPingPong}: the same between two processes, many times
 *   <li>{@link org.rdma4j.samples.first.WriteAndRead}: writing and reading the memory of a peer
 *   <li>{@link org.rdma4j.samples.first.Atomics}: changing a number in the memory of a peer
 *   <li>{@link org.rdma4j.samples.first.CompletionEvents}: sleeping instead of polling
 *   <li>{@link org.rdma4j.samples.first.CmEcho}: connecting by IP address
 *   <li>{@link org.rdma4j.samples.first.ConnectionEcho}: messages, without anything of the above
 * </ol>
 *
 * If you only want to send messages, begin at the end: {@code ConnectionEcho} needs nothing of what
 * the others explain.
 *
 * <h2>Running them</h2>
 *
 * After {@code mvn package -DskipTests}, from the top folder of the project, with Java 22 or later:
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.SendAndReceive
 * </pre>
 *
 * <p>To change a program and try it without a build, have Java compile it:
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp 'lib/target/*:bindings/core/target/*' \
 *   samples/src/main/java/org/rdma4j/samples/first/SendAndReceive.java
 * </pre>
 *
 * <p>Without the option, Java prints a warning, or in later versions refuses to call C. The jar has
 * it in its manifest, but that counts only with {@code -jar}.
 *
 * <p>Each program ends with exit status 0 if all went well. On a machine without an RDMA device it
 * says so. {@code dev/guest COMMAND} then runs a command in a virtual machine that has one.
 */
@NullMarked
package org.rdma4j.samples.first;

import org.jspecify.annotations.NullMarked;
