/**
 * What the packages above the verbs need of them, and users are not to have: the connection manager
 * makes queue pairs in its own way, and flows depend on the lifetimes of queue pairs and devices.
 */
@NullMarked
package org.rdma4j.verbs.internal;

import org.jspecify.annotations.NullMarked;
