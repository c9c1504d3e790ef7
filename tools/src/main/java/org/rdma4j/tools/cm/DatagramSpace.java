package org.rdma4j.tools.cm;

import java.util.Locale;
import org.rdma4j.cm.PortSpace;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The port spaces of datagrams. */
enum DatagramSpace {
  UDP(0x111),
  IPOIB(2);

  private final int number;

  DatagramSpace(int number) {
    this.number = number;
  }

  /** Returns the port space. Not a field: {@link PortSpace} would be loaded to print the help. */
  PortSpace space() {
    return this == UDP ? PortSpace.UDP : PortSpace.IPOIB;
  }

  /** Converts a name, or a number of rdma_cma.h. */
  static final class Converter implements ITypeConverter<DatagramSpace> {
    @Override
    public DatagramSpace convert(String value) {
      for (DatagramSpace space : values()) {
        if (value.equals(space.name().toLowerCase(Locale.ROOT)) || number(value) == space.number) {
          return space;
        }
      }
      throw new TypeConversionException(
          "'%s' is not a port space, must be udp (0x111) or ipoib (0x2)".formatted(value));
    }

    private static int number(String value) {
      try {
        return Integer.decode(value);
      } catch (NumberFormatException invalid) {
        return 0;
      }
    }
  }
}
