/** What the user has to mend; the message says what it is. */
final class Trouble extends Exception {
  private static final long serialVersionUID = 1;

  Trouble(String message) {
    super(message);
  }
}
