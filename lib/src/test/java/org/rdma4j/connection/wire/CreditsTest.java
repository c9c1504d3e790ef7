package org.rdma4j.connection.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

final class CreditsTest {
  private static Credits credits(int maxWindow, int first, int max) {
    Credits credits = new Credits(maxWindow);
    credits.begin(first, max, true, false);
    return credits;
  }

  /** Returns the credits of a side whose peer has sent a message and got an answer. */
  private static Credits used(int maxWindow) {
    Credits credits = credits(maxWindow, 1, 1);
    assertThat(credits.arrived()).isTrue();
    credits.freed();
    credits.grant(credits.owed());
    return credits;
  }

  @Test
  void asManyMessagesMayBeSentAsThePeerGrants() {
    Credits credits = credits(2, 2, 8);
    credits.spend();
    assertThat(credits.available()).isEqualTo(1);
    credits.spend();
    assertThat(credits.available()).isZero();
    assertThat(credits.restore(3)).isTrue();
    assertThat(credits.available()).isEqualTo(3);
  }

  @Test
  void thePeerCannotGrantMoreThanItSaidItHas() {
    Credits credits = credits(2, 2, 8);
    assertThat(credits.restore(6)).isTrue();
    assertThat(credits.restore(1)).isFalse();
    credits.spend();
    assertThat(credits.restore(2)).isFalse();
    assertThat(credits.restore(1)).isTrue();
    assertThat(credits.available()).isEqualTo(8);
  }

  @Test
  void aMessageWithoutACreditIsRefused() {
    Credits credits = credits(8, 1, 1);
    for (int i = 0; i < Credits.FIRST_WINDOW; i++) {
      assertThat(credits.arrived()).isTrue();
    }
    assertThat(credits.arrived()).isFalse();
  }

  @Test
  void theWindowDoublesIfThePeerSaysThatItLackedACredit() {
    Credits credits = credits(7, 1, 1);
    for (int window : new int[] {2, 4, 7, 7}) {
      credits.widen();
      credits.grant(credits.owed());
      assertThat(credits.granted()).isEqualTo(window);
    }
  }

  @Test
  void thatCreditsLackIsToldOnceIfThePeerKnowsOfIt() {
    Credits asking = credits(2, 1, 1);
    assertThat(asking.takeLacked()).isFalse();
    asking.lacked();
    assertThat(asking.takeLacked()).isTrue();
    assertThat(asking.takeLacked()).isFalse();
    Credits silent = new Credits(2);
    silent.begin(1, 1, false, false);
    silent.lacked();
    assertThat(silent.takeLacked()).isFalse();
  }

  @Test
  void theWindowDoublesEachTimeItIsUsedUpToItsMaximum() {
    Credits credits = credits(7, 1, 1);
    for (int window : new int[] {1, 2, 4, 7, 7}) {
      assertThat(credits.granted()).isEqualTo(window);
      for (int i = 0; i < window; i++) {
        assertThat(credits.arrived()).isTrue();
        credits.freed();
      }
      credits.grant(credits.owed());
    }
  }

  @Test
  void aPeerThatWaitsForEachAnswerGetsOneCreditMoreThanItUses() {
    Credits credits = credits(64, 1, 1);
    for (int i = 0; i < 100; i++) {
      assertThat(credits.arrived()).isTrue();
      credits.freed();
      credits.grant(credits.owed());
      assertThat(credits.granted()).isEqualTo(2);
    }
  }

  @Test
  void nothingIsOwedForAMessageThatIsHeld() {
    Credits credits = used(2);
    assertThat(credits.arrived()).isTrue();
    assertThat(credits.owed()).isZero();
    credits.freed();
    assertThat(credits.owed()).isEqualTo(1);
    credits.grant(1);
    assertThat(credits.owed()).isZero();
  }

  @Test
  void aPeerThatWaitsForEachAnswerGetsItsCreditsWithTheAnswers() {
    Credits credits = used(64);
    assertThat(credits.arrived()).isTrue();
    credits.freed();
    assertThat(credits.owed()).isEqualTo(1);
    assertThat(credits.isDue()).isFalse();
  }

  @Test
  void aPeerWithoutCreditsGetsSomeAtOnce() {
    Credits credits = used(2);
    assertThat(credits.arrived()).isTrue();
    assertThat(credits.arrived()).isTrue();
    assertThat(credits.isDue()).isFalse();
    credits.freed();
    assertThat(credits.isDue()).isTrue();
    credits.grant(credits.owed());
    assertThat(credits.isDue()).isFalse();
  }

  @Test
  void aPeerThatOnlySendsGetsHalfOfTheWindowAtATime() {
    Credits credits = used(8);
    for (int i = 0; i < 2; i++) {
      assertThat(credits.arrived()).isTrue();
      credits.freed();
    }
    credits.grant(credits.owed());
    assertThat(credits.granted()).isEqualTo(4);
    assertThat(credits.arrived()).isTrue();
    credits.freed();
    assertThat(credits.isDue()).isFalse();
    assertThat(credits.arrived()).isTrue();
    credits.freed();
    assertThat(credits.isDue()).isTrue();
  }

  @Test
  void aQuietPeerGivesBackAllButTheFirstWindow() {
    Credits sender = credits(2, 64, 64);
    Credits receiver = credits(64, 2, 2);
    receiver.grant(63);
    assertThat(sender.giveBack()).isEqualTo(62);
    sender.spend();
    assertThat(receiver.arrived()).isTrue();
    receiver.freed();
    assertThat(receiver.takeBack(62)).isTrue();
    assertThat(receiver.granted()).isEqualTo(Credits.FIRST_WINDOW);
    assertThat(sender.available()).isEqualTo(Credits.FIRST_WINDOW);
    assertThat(receiver.owed()).isZero();
  }

  @Test
  void theSecondOfTwoCreditsIsGivenBackIfThePeerKnowsThatOneIsEnough() {
    Credits older = credits(2, 2, 64);
    assertThat(older.hasSurplus()).isFalse();
    Credits newer = new Credits(2);
    newer.begin(2, 64, true, true);
    assertThat(newer.hasSurplus()).isTrue();
    assertThat(newer.giveBack()).as("besides that of the message").isZero();
    newer.spend();
    assertThat(newer.hasSurplus()).isFalse();
    assertThat(newer.available()).isEqualTo(Credits.FIRST_WINDOW);
  }

  @Test
  void nothingIsTakenBackThatThePeerDoesNotHave() {
    Credits credits = used(64);
    assertThat(credits.takeBack(3)).isFalse();
    assertThat(credits.takeBack(-1L)).isFalse();
    assertThat(credits.granted()).isEqualTo(2);
  }

  /**
   * Whatever both sides do in turn: no message is sent without a receive, at most three messages
   * with credits alone are unread, and no end waits forever.
   */
  @Property
  void whateverHappensMessagesFindReceivesAndFewUpdatesAreUnread(
      @ForAll @IntRange(min = 2, max = 20) int maxWindow, @ForAll byte[] steps) {
    Credits sender = credits(2, Credits.FIRST_WINDOW, maxWindow);
    Credits receiver = credits(maxWindow, 2, 2);
    int unread = 0;
    int held = 0;
    Deque<Integer> updates = new ArrayDeque<>();
    for (byte step : steps) {
      switch (step & 3) {
        case 0 -> {
          if (sender.available() > 0) {
            sender.spend();
            unread++;
          }
        }
        case 1 -> {
          if (unread > 0) {
            unread--;
            assertThat(receiver.arrived()).isTrue();
            held++;
          }
        }
        case 2 -> {
          if (held > 0) {
            held--;
            receiver.freed();
          }
        }
        default -> {
          if (!updates.isEmpty()) {
            assertThat(sender.restore(updates.removeFirst())).isTrue();
          }
        }
      }
      if (receiver.isDue()) {
        updates.addLast(receiver.owed());
        receiver.grant(receiver.owed());
      }
      assertThat(updates.size()).isLessThanOrEqualTo(3);
      assertThat(sender.available() + unread + updates.stream().mapToInt(each -> each).sum())
          .isEqualTo(receiver.granted());
      assertThat(sender.available() + unread + held + updates.size()).isPositive();
    }
  }
}
