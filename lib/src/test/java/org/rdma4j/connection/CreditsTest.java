package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

final class CreditsTest {
  @Test
  void asManyMessagesMayBeSentAsThePeerHasReceives() {
    Credits credits = new Credits(1, 2);
    assertThat(credits.isAvailable()).isTrue();
    credits.spend();
    assertThat(credits.isAvailable()).isTrue();
    credits.spend();
    assertThat(credits.isAvailable()).isFalse();
    assertThat(credits.outstanding()).isEqualTo(2);
  }

  @Test
  void aRestoredCreditCanBeSpentAgain() {
    Credits credits = new Credits(1, 1);
    credits.spend();
    assertThat(credits.restore(1)).isTrue();
    assertThat(credits.isAvailable()).isTrue();
    assertThat(credits.outstanding()).isZero();
  }

  @Test
  void noMoreCreditsAreRestoredThanAreOutstanding() {
    Credits credits = new Credits(16, 16);
    assertThat(credits.restore(0)).isTrue();
    assertThat(credits.restore(1)).isFalse();
    credits.spend();
    assertThat(credits.restore(2)).isFalse();
    assertThat(credits.restore(Integer.MAX_VALUE)).isFalse();
    assertThat(credits.outstanding()).isEqualTo(1);
    assertThat(credits.restore(1)).isTrue();
  }

  @Test
  void owedCreditsAreTakenOnce() {
    Credits credits = new Credits(16, 1);
    credits.owe();
    credits.owe();
    assertThat(credits.takeOwed()).isEqualTo(2);
    assertThat(credits.takeOwed()).isZero();
  }

  @Property
  void anUpdateIsDueFromHalfOfTheReceivesOn(@ForAll @IntRange(min = 1, max = 16384) int receives) {
    Credits credits = new Credits(receives, 1);
    int half = (receives + 1) / 2;
    for (int owed = 1; owed < half; owed++) {
      credits.owe();
      assertThat(credits.isUpdateDue()).isFalse();
    }
    credits.owe();
    assertThat(credits.isUpdateDue()).isTrue();
    credits.takeOwed();
    assertThat(credits.isUpdateDue()).isFalse();
  }

  /** Both sides keep to the rules, so a receive is posted for each message that is sent. */
  @Property
  void aMessageNeverExceedsTheReceivesOfThePeer(
      @ForAll @IntRange(min = 1, max = 20) int receives, @ForAll boolean[] steps) {
    Credits sender = new Credits(1, receives);
    Credits receiver = new Credits(receives, 1);
    int unread = 0;
    for (boolean send : steps) {
      if (send && sender.isAvailable()) {
        sender.spend();
        unread++;
      } else if (!send && unread > 0) {
        unread--;
        receiver.owe();
        if (receiver.isUpdateDue()) {
          assertThat(sender.restore(receiver.takeOwed())).isTrue();
        }
      }
      assertThat(unread).isLessThanOrEqualTo(receives);
      assertThat(sender.isAvailable() || unread > 0).isTrue();
    }
  }
}
