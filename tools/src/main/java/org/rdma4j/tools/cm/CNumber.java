package org.rdma4j.tools.cm;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts a number as strtoul does with base 0: 16, 0x10 and 020 are the same. */
final class CNumber implements ITypeConverter<Integer> {
  @Override
  public Integer convert(String value) {
    try {
      return Integer.decode(value);
    } catch (NumberFormatException invalid) {
      throw new TypeConversionException("'%s' is not an int".formatted(value));
    }
  }
}
