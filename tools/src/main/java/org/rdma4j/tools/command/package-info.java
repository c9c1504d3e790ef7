/**
 * What the programs share: common options, waits with timeouts, the TCP connection over which two
 * sides exchange their addresses, and how failures and progress are reported. This package knows
 * none of the programs.
 *
 * <p>Start with {@link org.rdma4j.tools.command.DeviceOptions} and {@link
 * org.rdma4j.tools.command.PortOptions}, which open a device and check its port; the other packages
 * explain the programs themselves.
 */
@NullMarked
package org.rdma4j.tools.command;

import org.jspecify.annotations.NullMarked;
