package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

final class RequestKindTest {
  @Property
  void anIdHasItsKindAndItsNumber(@ForAll RequestKind kind, @ForAll int number) {
    long id = kind.id(number);
    assertThat(RequestKind.of(id)).isEqualTo(kind);
    assertThat(RequestKind.number(id)).isEqualTo(number);
  }
}
