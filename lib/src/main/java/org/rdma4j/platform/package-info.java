/**
 * What the library needs of the operating system and of C, and knows no verbs: libc, errno, loading
 * libraries, pages of memory, byte order, deadlines and waiting for file descriptors.
 */
@NullMarked
package org.rdma4j.platform;

import org.jspecify.annotations.NullMarked;
