/**
 * Programs that show the RDMA devices of this machine. They print what the programs of libibverbs
 * print: {@code devices} as {@code ibv_devices}, {@code devinfo} as {@code ibv_devinfo}, {@code
 * asyncwatch} as {@code ibv_asyncwatch}.
 *
 * <p>Read {@link org.rdma4j.tools.devices.Devices} first. {@link org.rdma4j.tools.devices.DevInfo}
 * shows how to query a device and its ports, {@link org.rdma4j.tools.devices.AsyncWatch} how to
 * wait for asynchronous events.
 */
@NullMarked
package org.rdma4j.tools.devices;

import org.jspecify.annotations.NullMarked;
