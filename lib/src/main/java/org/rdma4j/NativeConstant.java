package org.rdma4j;

/** An enum constant that stands for a constant of the C headers. */
public interface NativeConstant {
  /**
   * Returns the value of the C constant.
   *
   * @return the value of the C constant that the documentation of this constant names
   */
  int value();
}
