package org.rdma4j.tools.selftest;

/** A test of one ability of a device. */
interface SelfCheck {
  /** Returns a word or two, for the line of the report. */
  String name();

  /**
   * Tests the device, from nothing to the close of all objects.
   *
   * @return what was done, in a few words
   * @throws NotSupported if the device does not have what is tested
   * @throws Exception if the test failed, with the reason
   */
  String run(TestedDevice tested) throws Exception;
}
