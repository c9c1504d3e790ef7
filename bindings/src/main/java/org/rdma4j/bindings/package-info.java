/**
 * What the bindings need before they can call C: the shared libraries, and the JVM's permission.
 */
@NullMarked
package org.rdma4j.bindings;

import org.jspecify.annotations.NullMarked;
