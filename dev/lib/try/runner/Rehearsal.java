import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of nothing, which load what tests need. */
class Rehearsal {
  @Test
  void assertions() {
    assertThat(List.of("a")).containsExactly("a");
    assertThat(1L).isEqualTo(1);
    assertThatThrownBy(() -> Integer.parseInt("x")).hasMessageContaining("x");
  }

  @ParameterizedTest
  @ValueSource(ints = 1)
  void parameters(int value) {
    assertThat(value).isOne();
  }
}
