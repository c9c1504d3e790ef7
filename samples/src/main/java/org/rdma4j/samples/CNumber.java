package org.rdma4j.samples;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number as strtoul reads it where it is to find out the base: also 0x10, and 010 for 8. */
final class CNumber implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String value) {
    try {
      return Integer.decode(value);
    } catch (NumberFormatException notOne) {
      throw new TypeConversionException("'%s' is not an int".formatted(value));
    }
  }
}
