/** What this module needs of the operating system itself: libc, errno, readiness of descriptors. */
@NullMarked
package org.rdma4j.platform;

import org.jspecify.annotations.NullMarked;
