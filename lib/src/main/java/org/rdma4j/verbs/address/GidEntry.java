package org.rdma4j.verbs.address;

/**
 * An entry of a device's GID table: {@code struct ibv_gid_entry}.
 *
 * @param port the port, from 1
 * @param index the index in the table of the port, from 0, by which paths refer to the GID
 * @param gid the GID
 * @param type the protocol that it is for
 * @param networkInterface the index of the network interface that it belongs to, as {@code
 *     if_nametoindex} returns it; 0 if there is none
 * @see org.rdma4j.verbs.Port#gids
 * @see GidType
 */
public record GidEntry(int port, int index, Gid gid, GidType type, int networkInterface) {}
