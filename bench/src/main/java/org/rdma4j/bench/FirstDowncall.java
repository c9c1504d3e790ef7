package org.rdma4j.bench;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;

/**
 * The least that a program does which calls C through the Foreign Function and Memory API: {@code
 * dev/bench-start} takes its time from outside.
 */
public final class FirstDowncall {
  private FirstDowncall() {}

  /**
   * Calls {@code getpid}.
   *
   * @param arguments none
   * @throws Throwable where the call fails
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
