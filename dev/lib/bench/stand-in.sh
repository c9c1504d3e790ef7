# shellcheck shell=bash disable=SC2154 # dev/bench sources this file and defines class and subcommand
# The commands of dev/bench that measure on the stand-in device.

readonly points=bench/target/points.jsonl charts=docs/benchmarks

usage() {
  echo "usage: dev/bench $(synopsis)"
  echo
  case $subcommand in
    all | posts | quick) usage_of_speed ;;
    tail) usage_of_tail ;;
    safepoints) usage_of_safepoints ;;
    check) usage_of_check ;;
    report) usage_of_report ;;
  esac
}

synopsis() {
  case $subcommand in
    all) echo '[all]' ;;
    check) echo 'check [required]' ;;
    *) echo "$subcommand" ;;
  esac
}

usage_of_speed() {
  cat <<'END'
Posts and polls through the complete safe API on a stand-in device: a C library that takes the place of
libibverbs.so.1 and copies requests into a ring. So it measures the calls, not a network.

JMH runs three JVMs for each row of the table (posts: with fewer pairs; quick: with fewer pairs in one JVM). In each JVM, 20 ms of Java alternate with
about 10 ms of the same loop in C, which uses the inline functions of verbs.h on the same queues. The ratio is the
median of these pairs. The C loop is compiled twice: with -O2, and ("unmerged") also without the compiler passes that
merge small stores, because the stand-in reads unmerged stores faster. Two rows use JNI. Rows with plain calls run with
-XX:+UseSystemMemoryBarrier.

all prints a second table, of posts and polls with many queue pairs, regions or outstanding requests, and a third, of
memory registrations. Then it runs tail and safepoints.

The results are in bench/target/points.jsonl and bench/target/jmh.json, the output of JMH in bench/target/jmh.log.

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage.
END
}

usage_of_tail() {
  cat <<'END'
Prints the percentiles of the time that each of ten million posts and polls takes on the stand-in device, for Java and
for C, while another thread allocates 500 MB/s: first with G1, then with ZGC.

The results are in bench/target/points.jsonl.

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage.
END
}

usage_of_safepoints() {
  cat <<'END'
Measures how long the JVM waits for a safepoint while threads poll empty queues: with critical calls, with plain calls,
and with plain calls and -XX:+UseSystemMemoryBarrier.

The results are in bench/target/points.jsonl.

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage.
END
}

usage_of_check() {
  cat <<'END'
Counts the instructions of some operations and compares them with docs/benchmarks/instructions.jsonl. If that file does
not exist, it is written. Most virtual machines have no instruction counter: the command then says so and succeeds.

  required   fail if this machine has no instruction counter

Exit status: 0 if no operation executes over 10 % more instructions than recorded; 1 if one does or something failed; 2
for wrong usage.
END
}

usage_of_report() {
  cat <<'END'
Copies the points of the last run into the directory of docs/benchmarks/ for machines with this processor, from which
dev/docs draws charts, and writes the table of posts and polls in docs/benchmarks/calls.md. Charts that the last run did
not measure stay as they are.

Exit status: 0 if it succeeded; 1 if there are no results or something failed; 2 for wrong usage.
END
}

run() {
  local required=()
  if [[ $subcommand == check && ${1:-} == required ]]; then
    required=(required)
    shift
  fi
  (($# == 0)) || unknown "$1"
  java=$(dev/lib/jdk)/bin/java
  dev/lib/install maven gcc libc6-dev libibverbs-dev
  build_bench
  case $subcommand in
    report) report ;;
    check) run_class "${class[check]}" "$charts/instructions.jsonl" "${required[@]}" ;;
    *) measure ;;
  esac
}

measure() {
  rm -f "$points"
  case $subcommand in
    all)
      speed
      tail_of_posts
      safepoints
      ;;
    posts | quick) speed "$subcommand" ;;
    tail) tail_of_posts ;;
    safepoints) safepoints ;;
  esac
}

# run_class [OPTION OF THE JVM...] CLASS [ARG...]
run_class() {
  "$java" --enable-native-access=ALL-UNNAMED \
    -cp "bench/target/classes:$(<bench/target/classpath)" "$@"
}

# speed [posts|quick]
speed() {
  rm -f bench/target/jmh.json
  echo "dev/bench: measuring with $java; the output of JMH goes to bench/target/jmh.log" >&2
  run_class "${class[speed]}" bench/target/jmh.json bench/target/jmh.log "$points" "$@" ||
    die 'a benchmark failed: see bench/target/jmh.log'
}

tail_of_posts() {
  local collector
  for collector in G1 Z; do
    echo
    run_class "-XX:+Use${collector}GC" -Xms1g -Xmx1g "${class[tail]}" "${collector}GC" 10000000 "$points"
  done
}

safepoints() {
  local barrier=-XX:+UseSystemMemoryBarrier
  echo
  run_class "${class[safepoints]}" CRITICAL '' 400 "$points"
  run_class "${class[safepoints]}" PLAIN '' 400 "$points"
  run_class "$barrier" "${class[safepoints]}" PLAIN ", ${barrier#-XX:+}" 400 "$points"
}

report() {
  local processor directory
  [[ -r $points ]] || die 'there are no results yet: run dev/bench first'
  processor=$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1)
  processor=${processor:-$(uname -m)}
  directory=$charts/$(sed 's/([A-Za-z]*)//g; s/[^A-Za-z0-9]\+/-/g; s/-$//' <<<"${processor,,}")
  mkdir -p "$directory"
  keep_others "$directory/points.jsonl"
  run_class "${class[report]}" "$points" docs/benchmarks/calls.md \
    "Measured on $processor with $(nproc) processors, $(jdk_version), commit $(git rev-parse --short HEAD), $(measured)"
  describe "$processor" >"$directory/README.md"
}

# keep_others FILE: replaces the points of a file whose charts were measured again
keep_others() {
  local others=
  [[ ! -r $1 ]] || others=$(grep -vFf <(grep -o '^{"chart": "[^"]*"' "$points" | sort -u) "$1" || true)
  {
    cat "$points"
    [[ -z $others ]] || echo "$others"
  } >"$1.new"
  mv "$1.new" "$1"
}

jdk_version() { "$java" --version | sed -n 2p; }

measured() { date -u -r "$points" '+%Y-%m-%d %H:%M UTC'; }

# describe PROCESSOR
describe() {
  cat <<END
# Results of dev/bench on $1

Measured by \`dev/bench\`; the points are in [points.jsonl](points.jsonl), and \`dev/docs\` draws them on this page of the
site. [performance.md](../../performance.md) explains them. Charts that this run did not measure are older.

- machine: $1, $(nproc) processors
- kernel: $(uname -sr)
- JDK: $(jdk_version)
- commit: $(git rev-parse --short HEAD)
- measured: $(measured)

END
}
