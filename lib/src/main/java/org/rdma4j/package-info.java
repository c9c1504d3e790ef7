/** What goes wrong: the exceptions that all packages of this module throw. */
@NullMarked
package org.rdma4j;

import org.jspecify.annotations.NullMarked;
