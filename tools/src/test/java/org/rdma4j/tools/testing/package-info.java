/** What the tests of all programs use: child processes, and runs of programs in this JVM. */
package org.rdma4j.tools.testing;
