package org.rdma4j.bench.startup;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;

/**
 * The minimum that a program does to call C through the Foreign Function and Memory API. {@code
 * dev/bench start} times the whole process.
 */
public final class FirstDowncall {
  private FirstDowncall() {}

  /**
   * Calls {@code getpid}.
   *
   * @param arguments none
   * @throws Throwable if the call fails
   */
  public static void main(String[] arguments) throws Throwable {
    Linker linker = Linker.nativeLinker();
    System.out.println(
        (int)
            linker
                .downcallHandle(
                    linker.defaultLookup().find("getpid").orElseThrow(),
                    FunctionDescriptor.of(JAVA_INT))
                .invokeExact());
  }
}
