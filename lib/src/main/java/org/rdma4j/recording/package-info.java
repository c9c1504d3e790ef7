/**
 * The events of JDK Flight Recorder that connections write. They cost nothing while no recording
 * enables them.
 */
@NullMarked
package org.rdma4j.recording;

import org.jspecify.annotations.NullMarked;
