/**
 * A program that finds out why RDMA does not work on this machine, and says what to do about it.
 *
 * <p>Each check is a class of its own. It reads the files of a {@link
 * org.rdma4j.tools.doctor.Machine} and returns {@linkplain org.rdma4j.tools.doctor.Finding
 * findings}; {@link org.rdma4j.tools.doctor.DoctorReport} prints them. The checks follow the order
 * in which the layers build on each other: the kernel, its devices and their files, the libraries
 * and their providers, limits, ports and GIDs, known faults. Only the last check, {@link
 * org.rdma4j.tools.doctor.RoundTrips}, calls the verbs, so all others work without the libraries of
 * RDMA.
 */
@NullMarked
package org.rdma4j.tools.doctor;

import org.jspecify.annotations.NullMarked;
