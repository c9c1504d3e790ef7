import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;

/**
 * Compiles tests and what they need, and finds out how they have to run, for dev/try. It stays
 * between calls, because a compiler that has run before takes a fifth of the time. Each line of
 * standard input is the number of a job and the test that it wants, CLASS or CLASS#METHOD. The
 * answer goes to the directory of the job: {@code plan} if all went well, otherwise {@code
 * trouble}.
 */
final class Host {
  private static final long IDLE_MILLIS = 30 * 60 * 1000;

  private Host() {}

  /** The arguments are the directory of jobs and that of jars. */
  public static void main(String[] args) throws IOException {
    Path jobs = Path.of(args[0]);
    Project project = new Project(Path.of("").toAbsolutePath(), Path.of(args[1]));
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
    Timer idle = new Timer(true);
    for (TimerTask end = schedule(idle); ; end = schedule(idle)) {
      String request = requests.readLine();
      end.cancel();
      if (request == null || request.equals("end")) {
        return;
      }
      String[] words = request.split(" ", 2);
      answer(project, jobs.resolve(words[0]), words[1]);
    }
  }

  private static TimerTask schedule(Timer timer) {
    TimerTask end =
        new TimerTask() {
          @Override
          public void run() {
            System.exit(0);
          }
        };
    timer.schedule(end, IDLE_MILLIS);
    return end;
  }

  private static void answer(Project project, Path job, String test) throws IOException {
    try {
      write(job, "plan", Plan.of(project, test));
    } catch (Trouble trouble) {
      write(job, "trouble", List.of(trouble.getMessage()));
    } catch (Exception | LinkageError unexpected) {
      StringWriter stack = new StringWriter();
      unexpected.printStackTrace(new PrintWriter(stack));
      write(job, "trouble", List.of(stack.toString()));
    }
  }

  /** At once, because a reader may look at any time. */
  private static void write(Path job, String name, List<String> lines) throws IOException {
    Path draft = Files.write(job.resolve(name + ".draft"), lines);
    Files.move(draft, job.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }
}
