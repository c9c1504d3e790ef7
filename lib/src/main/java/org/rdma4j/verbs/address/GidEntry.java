package org.rdma4j.verbs.address;

/**
 * An entry of a device's GID table: {@code struct ibv_gid_entry}.
 *
 * @param port the port, from 1
 * @param index the index in that port's table, from 0, which paths refer to
 * @param gid the identifier
 * @param type what it is good for
 * @param networkInterface the index of the network interface behind it, as {@code if_nametoindex}
 *     gives it; 0 where there is none
 */
public record GidEntry(int port, int index, Gid gid, GidType type, int networkInterface) {}
