package org.rdma4j.verbs;

import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * What is known of a device without opening it: an entry of {@code ibv_get_device_list}.
 *
 * @param name the kernel's name for the device, such as {@code mlx5_0} or {@code rxe0}
 * @param guid the node GUID: {@code ibv_get_device_guid}
 * @param nodeType the kind of node
 * @param transport the transport that the device speaks
 * @param systemPath the directory of the device in sysfs
 * @param index the kernel's index of the device, {@code ibv_get_device_index}. No other device gets
 *     it until the machine is restarted. -1 if the kernel does not provide it
 * @see RdmaDevice#list
 */
public record DeviceInfo(
    String name,
    Guid guid,
    NodeType nodeType,
    TransportType transport,
    String systemPath,
    int index) {}
