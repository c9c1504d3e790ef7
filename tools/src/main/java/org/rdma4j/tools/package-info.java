/**
 * Tools for RDMA in one runnable jar: {@link org.rdma4j.tools.Main} starts the program that the
 * first argument names. Most of them talk to the program of the same name in C:
 *
 * <ul>
 *   <li>{@link org.rdma4j.tools.doctor}: find out why RDMA does not work on a machine
 *   <li>{@link org.rdma4j.tools.devices}: list and watch devices
 *   <li>{@link org.rdma4j.tools.perftest}: measure a network, and compare with C
 *   <li>{@link org.rdma4j.tools.pingpong}: queue pairs that are connected by hand
 *   <li>{@link org.rdma4j.tools.cm}: the connection manager
 *   <li>{@link org.rdma4j.tools.command}: what they share
 * </ul>
 */
@NullMarked
package org.rdma4j.tools;

import org.jspecify.annotations.NullMarked;
