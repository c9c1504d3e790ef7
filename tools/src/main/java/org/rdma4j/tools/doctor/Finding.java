package org.rdma4j.tools.doctor;

/**
 * What a check found.
 *
 * @param level how bad it is
 * @param subject what was checked, such as {@code memlock}
 * @param text what was found, in one line
 * @param fix the command that fixes it, or what else to do; empty if nothing has to be fixed
 */
record Finding(Level level, String subject, String text, String fix) {
  /** How bad a finding is. */
  enum Level {
    /** It is as it should be. */
    OK,
    /** It may be of interest. */
    NOTE,
    /** It prevents some uses of RDMA. */
    WARNING,
    /** It prevents the use of RDMA, or of the connection manager, or of a device. */
    PROBLEM
  }

  static Finding ok(String subject, String text) {
    return new Finding(Level.OK, subject, text, "");
  }

  static Finding note(String subject, String text) {
    return new Finding(Level.NOTE, subject, text, "");
  }

  static Finding warning(String subject, String text, String fix) {
    return new Finding(Level.WARNING, subject, text, fix);
  }

  static Finding problem(String subject, String text, String fix) {
    return new Finding(Level.PROBLEM, subject, text, fix);
  }
}
