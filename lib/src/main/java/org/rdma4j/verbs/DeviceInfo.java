package org.rdma4j.verbs;

import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * What is known of a device without opening it: an entry of {@code ibv_get_device_list}.
 *
 * @param name the kernel's name of it, such as {@code mlx5_0} or {@code rxe0}
 * @param guid its node GUID, {@code ibv_get_device_guid}
 * @param nodeType what kind of node it is
 * @param transport what it speaks
 * @param systemPath its directory in sysfs
 * @param index the kernel's index of it, {@code ibv_get_device_index}, which no other device gets
 *     while this machine runs; -1 where the kernel does not tell
 */
public record DeviceInfo(
    String name,
    Guid guid,
    NodeType nodeType,
    TransportType transport,
    String systemPath,
    int index) {}
