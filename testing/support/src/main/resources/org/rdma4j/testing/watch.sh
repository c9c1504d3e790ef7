# Ends a JVM whose test takes too long. It reads from standard input which test runs now, and for how many seconds it
# may: "120 org.rdma4j.SomeTest.someBehaviour".
#
#   bash watch.sh PID JCMD REPORTS
#
#   PID       the process of the JVM
#   JCMD      the program that asks a JVM for its threads
#   REPORTS   the directory for the report of the failure

jvm=$1 jcmd=$2 reports=$3 limit=60 name='no test'

main() {
  local line status
  while true; do
    IFS= read -r -t "$limit" line
    status=$?
    ((status == 0)) || break
    limit=${line%% *} name=${line#* }
  done
  # Otherwise, the JVM has ended.
  ((status <= 128)) || expire
}

expire() {
  local stacks message="$name did not end within $limit seconds"
  echo "$message, so its JVM is killed" >&2
  stacks=$(stacks)
  echo "$stacks" >&2
  mkdir -p "$reports"
  report "$message" "$stacks" >"$reports/TEST-hung-$jvm.xml"
  # Before its descendants, so that no test sees them fail.
  # shellcheck disable=SC2046 # several processes
  kill -KILL "$jvm" $(descendants "$jvm" | grep -vx $$)
}

# A JVM with a thread in a critical call does not answer: it has twice the time of the test to do so, up to 15 seconds.
stacks() {
  local file patience=$((limit < 8 ? 2 * limit : 15))
  file=$(mktemp)
  if timeout "$patience" "$jcmd" "$jvm" Thread.dump_to_file -overwrite "$file" >/dev/null 2>&1; then
    cat "$file"
  else
    echo 'The JVM did not print its threads. Each line: a thread, its state, and the function of the kernel it waits in.'
    for thread in /proc/"$jvm"/task/*; do
      echo "$(<"$thread/comm") $(awk '/^State:/ { print $2 }' "$thread/status") $(<"$thread/wchan")"
    done
  fi
  rm -f "$file"
}

# The report of a test that failed, as JUnit writes it.
report() {
  printf '<?xml version="1.0" encoding="UTF-8"?>\n'
  printf '<testsuite name="tests that hung" tests="1" skipped="0" failures="1" errors="0">\n'
  printf '<testcase name="%s" classname="%s">\n' "$(escape "$name")" "$(escape "${name%.*}")"
  printf '<failure message="%s">%s</failure>\n' "$(escape "$1")" "$(escape "$2")"
  printf '</testcase>\n</testsuite>\n'
}

escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' <<<"$1"; }

descendants() {
  local child
  # shellcheck disable=SC2013 # words
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    echo "$child"
    descendants "$child"
  done
}

main
