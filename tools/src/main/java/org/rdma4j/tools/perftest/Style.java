package org.rdma4j.tools.perftest;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How results are printed.
 *
 * @param output what is printed
 * @param jsonFile the file that gets a JSON object, or null for none
 * @param gigabits whether bandwidths are in Gb/s, rather than MiB/s
 * @param everyTime whether each time of a latency test is printed in the order of their lengths
 * @param everyTimeInOrder whether each time of a latency test is printed in the order of messages
 * @param bothSides whether a bandwidth test in which both sides send also prints each side's result
 * @param progress whether the progress is printed even if standard error is not a terminal
 */
record Style(
    Output output,
    @Nullable Path jsonFile,
    boolean gigabits,
    boolean everyTime,
    boolean everyTimeInOrder,
    boolean bothSides,
    boolean progress) {}
