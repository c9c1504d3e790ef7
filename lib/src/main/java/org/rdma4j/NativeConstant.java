package org.rdma4j;

/** An enum constant that stands for a constant of C's headers, and knows its value there. */
public interface NativeConstant {
  /**
   * Returns the value that C's headers give the constant.
   *
   * @return the value of the C constant that the documentation of this one names
   */
  int value();
}
