/**
 * What the packages above the verbs need from them, but users do not get: the connection manager
 * creates queue pairs in its own way, and flows depend on the lifetimes of queue pairs and devices.
 *
 * <p>This package is not exported.
 */
@NullMarked
package org.rdma4j.verbs.internal;

import org.jspecify.annotations.NullMarked;
