/**
 * The stand-in device that everything is measured on: a C library ({@code device.c}) that takes the
 * place of libibverbs and copies requests into a ring. {@link org.rdma4j.bench.standin.StandIn}
 * opens it through the safe API and has a queue pair ready to send.
 */
@NullMarked
package org.rdma4j.bench.standin;

import org.jspecify.annotations.NullMarked;
