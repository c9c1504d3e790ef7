# shellcheck shell=bash disable=SC2154 # dev/bench sources this file and defines class
# The command posts of dev/bench, which sources this file.

readonly results=bench/target/posts.jsonl
jvms=3

usage() {
  cat <<'END'
usage: dev/bench [posts [--mlx5] [--jvms N]]

Compares posts and polls through the safe API and the libmlx5 of this machine, on the simulated adapter
(docs/simulated-adapter.md), with the same loops in C on the same queues. 256 posts, then the adapter's work, which is
not timed, then 256 polls: the loops of C and of Java take turns in one JVM. The ratio is the median of 3000 such turns.
Five settings are measured: critical calls, plain calls with -XX:+UseSystemMemoryBarrier, extended queues (ibv_wr_* and
ibv_start_poll) with critical calls, and queues in place (QueueAccess.IN_PLACE) with and without a lock, compared with C
through libmlx5. "The call alone" is a call through the bindings, without any check; "by C" is C that writes the queue in
place as well, without a lock and with hardly any check.

The doorbell registers are ordinary memory here. On hardware a write to them takes longer, in C as in Java, so that the
ratios are smaller.

  --mlx5       the same: no other device is measured
  --jvms N     measure each setting in N JVMs (default: 3); the table shows the medians, and the range of the ratios

The results are in bench/target/posts.jsonl.

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage.
END
}

run() {
  local i
  while (($#)); do
    case $1 in
      --mlx5) shift ;;
      --jvms) number "$@" && jvms=$2 && shift 2 ;;
      *) unknown "$1" ;;
    esac
  done
  java=$(dev/lib/jdk)/bin/java
  dev/lib/install maven gcc libc6-dev libibverbs-dev
  build_bench
  adapter=$(dev/lib/simulation)
  rm -f "$results"
  for ((i = 1; i <= jvms; i++)); do
    echo "dev/bench: JVM $i of $jvms with each setting" >&2
    measure CRITICAL PLAIN 'critical calls'
    measure PLAIN PLAIN 'plain calls' -XX:+UseSystemMemoryBarrier
    measure CRITICAL EXTENDED 'extended queues'
    measure CRITICAL IN_PLACE 'in place'
    measure CRITICAL IN_PLACE_ONE_THREAD 'in place, one thread'
  done
  "$java" -cp "$class_path" "${class[posts_table]}" "$results"
}

# measure STYLE QUEUES NAME [OPTION OF THE JVM...]
measure() {
  class_path=bench/target/classes:$(<bench/target/classpath)
  MLX5SIM_ENGINE=manual MLX5SIM_SINK=1 LD_PRELOAD=$adapter "$java" -XX:+UseSerialGC -Xmx512m "${@:4}" \
    --enable-native-access=ALL-UNNAMED -cp "$class_path" "${class[posts]}" "${@:1:3}" "$results" ||
    die "posts and polls with $3 failed: see above"
}
