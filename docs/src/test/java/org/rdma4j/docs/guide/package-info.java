/** The code that the guide shows. The tests run it on a device. */
@NullMarked
package org.rdma4j.docs.guide;

import org.jspecify.annotations.NullMarked;
