/**
 * Attributes, limits and capabilities of a device and its ports: the records that queries return,
 * and the types of their components.
 *
 * <p>Start with {@link org.rdma4j.verbs.attribute.DeviceAttributes}, which {@link
 * org.rdma4j.verbs.RdmaDevice#attributes} returns, and {@link
 * org.rdma4j.verbs.attribute.PortAttributes}, which {@link org.rdma4j.verbs.RdmaDevice#port}
 * returns.
 */
@NullMarked
package org.rdma4j.verbs.attribute;

import org.jspecify.annotations.NullMarked;
