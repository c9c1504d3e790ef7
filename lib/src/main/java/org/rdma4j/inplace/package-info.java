/**
 * Posts and polls in place: requests are written into the queues of an mlx5 adapter, and
 * completions read from them, without a call of libmlx5. These queues lie in memory of the process;
 * libmlx5 creates them, says where they are ({@link org.rdma4j.inplace.Mlx5Objects}), and never
 * touches them after that.
 *
 * <p>The layouts are those of the adapter's programming documentation: {@link
 * org.rdma4j.inplace.RequestSegments} and {@link org.rdma4j.inplace.CompletionEntry}. Each other
 * class does what one function of libmlx5 does:
 *
 * <table>
 * <caption>What a class stands for</caption>
 * <tr><td>{@link org.rdma4j.inplace.InPlaceSends}</td><td>{@code mlx5_post_send}</td></tr>
 * <tr><td>{@link org.rdma4j.inplace.InPlaceReceives}</td><td>{@code mlx5_post_recv}</td></tr>
 * <tr><td>{@link org.rdma4j.inplace.InPlaceSharedReceives}</td><td>{@code mlx5_post_srq_recv},
 * {@code mlx5_free_srq_wqe}</td></tr>
 * <tr><td>{@link org.rdma4j.inplace.InPlaceCompletions}</td><td>{@code mlx5_poll_cq}, {@code
 * mlx5_arm_cq}, {@code mlx5_cq_clean}</td></tr>
 * </table>
 *
 * <p><b>The order of stores.</b> The adapter reads memory while the processor writes it, so the
 * order in which stores become visible matters. Libmlx5 has a barrier for each step; the classes
 * here use what Java has on x86-64:
 *
 * <table>
 * <caption>Posting a send</caption>
 * <tr><th>step</th><th>libmlx5, on x86-64</th><th>here</th><th>why</th></tr>
 * <tr><td>write the request</td><td>stores</td><td>stores</td><td></td></tr>
 * <tr><td>the request before the record</td><td>{@code udma_to_device_barrier}: for the compiler
 * only</td><td>a release store of the record</td><td>the adapter may read the request as soon as
 * it sees the record. Ordinary memory keeps the order of stores</td></tr>
 * <tr><td>the record before the register</td><td>{@code mmio_wc_start}: SFENCE</td><td>SFENCE, see
 * {@link org.rdma4j.inplace.StoreFence}</td><td>the register is write-combining memory, whose
 * stores can overtake earlier ones</td></tr>
 * <tr><td>write the register</td><td>stores of 8 bytes, in order</td><td>stores of 8 bytes, with a fence for the compiler (storeStoreFence) between them</td><td>the compiler must not merge or reorder them; the processor needs nothing for that</td>
 * </tr>
 * <tr><td>flush the register</td><td>{@code mmio_flush_writes}: SFENCE</td><td>SFENCE, before a
 * lock is given back</td><td>otherwise the stores stay in a write-combining buffer of the processor
 * for an unknown time, and a doorbell of another processor could overtake them</td></tr>
 * </table>
 *
 * <p>Receives have no register: a release store of the record is enough. A poll reads the byte that
 * says who owns a completion with acquire, as {@code udma_from_device_barrier}, and writes the
 * record of the consumer with release, so that the adapter overwrites nothing that is still being
 * read. A request for an event has the order of a send, with an exchange (XCHG) and a full fence in
 * the places of the two SFENCEs: events are rare.
 *
 * <p><b>Arm.</b> There the register needs DSB ST after it ({@code mmio_flush_writes}) and before it
 * ({@code mmio_wc_start}), and the record DMB OSHST ({@code udma_to_device_barrier}), because the
 * adapter observes the outer shareable domain. The fences of Java are DMB ISH, DMB ISHST and DMB
 * ISHLD: they order what other processors see, and do not wait for the completion of stores to a
 * device. So queues are used in place on x86-64 only.
 */
@NullMarked
package org.rdma4j.inplace;

import org.jspecify.annotations.NullMarked;
