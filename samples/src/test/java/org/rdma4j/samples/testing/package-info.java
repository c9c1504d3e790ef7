/** What the tests of all programs use. */
package org.rdma4j.samples.testing;
