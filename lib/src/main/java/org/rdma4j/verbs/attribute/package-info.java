/**
 * Attributes, limits and capabilities of a device and its ports: the records that queries return,
 * and the types of their components.
 *
 * <p>Start with {@link org.rdma4j.verbs.attribute.DeviceAttributes}, which {@link
 * org.rdma4j.verbs.RdmaDevice#attributes()} returns, and {@link
 * org.rdma4j.verbs.attribute.PortAttributes}, which {@link org.rdma4j.verbs.Port#attributes}
 * returns.
 *
 * {@snippet :
 * DeviceAttributes attributes = device.attributes();
 * System.out.println(attributes.maxQueuePairs() + " queue pairs");
 *
 * PortAttributes port = device.port(1).attributes();
 * if (port.state() == PortState.ACTIVE && port.linkLayer() == LinkLayer.ETHERNET) {
 *   System.out.println("RoCE or iWARP, with packets of " + port.activeMtu().bytes() + " bytes");
 * }
 * }
 */
@NullMarked
package org.rdma4j.verbs.attribute;

import org.jspecify.annotations.NullMarked;
