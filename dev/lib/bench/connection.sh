# shellcheck shell=bash disable=SC2154 # dev/bench sources this file and defines class
# The command connection of dev/bench, which sources this file.

readonly jar=tools/target/rdma4j-tools.jar
readonly port=18590

usage() {
  cat <<'END'
usage: dev/bench connection [--mlx5] [-p PAIRS] [COMPARISON...]
       dev/bench connection --pair

Compares connections with the C programs of perftest, with our own rc-pingpong and with loops of raw verbs, and channels
of java.nio that have gone over to RDMA with connections and with TCP, and connections with jucx, the Java binding of
UCX. Both run in turn on one device, in pairs, and the result is the median of the ratios. It prints the table of
docs/benchmarks/programs.md.

  --mlx5       measure natively on the simulated adapter (docs/simulated-adapter.md), whose wire between two processes
               takes most of the time
  -p PAIRS     the number of pairs for each comparison (default: 5)
  --pair       measure between two guests instead, and print the rates over their link
  COMPARISON   some of: send-64, send-4k, send-16k, send-64k, send-1m, write-64k, read-64k, echo, echo-driven, echo-async,
               first, many, open, close, allocation, allocation-handler, allocation-16k; only if it is named: many-10k;
               of channels upgraded to RDMA (docs/guide/channels.md), compared with connections: channel-echo, channel-select,
               channel-stream, channel-many, channel-over, and beside TCP: channel-tcp-echo, channel-tcp-stream; of
               channels to a peer without RDMA, beside TCP: stays-on-tcp-echo, stays-on-tcp-stream, stays-on-tcp-storm; of
               Netty, over such a channel and over its own transport for RDMA, beside connections: netty-channel,
               netty-transport; of connections, beside jucx, the Java binding of UCX: jucx-echo, jucx-echo-median,
               jucx-stream, jucx-stream-heap; of Jedis over rdma4j-valkey, beside valkey-benchmark and beside TCP:
               valkey-get, valkey-get-tcp (default: all, but those of Valkey only if dev/lib/valkey has built it)

Example: dev/bench connection -p 3 send-64 echo

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage; that of dev/guest if
the guest failed.
END
}

run() {
  local here=0 pairs=5 between=0 simulated=0 role='' chosen=()
  while (($#)); do
    case $1 in
      --here) here=1 ;;
      --pair) between=1 ;;
      --mlx5) simulated=1 ;;
      --serve | --measure) role=$1 ;;
      -p) number "$@" && pairs=$2 && shift ;;
      -*) unknown "$1" ;;
      *) chosen+=("$1") ;;
    esac
    shift
  done
  # With the second compiler only, and the system memory barrier, for the reasons that pingpong.sh gives; compiled early,
  # for the reason that cm.sh gives.
  java=$(dev/lib/jdk)/bin/java
  flags=(-XX:-TieredCompilation -XX:CompileThreshold=800 -XX:+UseSystemMemoryBarrier --enable-native-access=ALL-UNNAMED)
  # JVMs that have just begun in an emulated guest need more than ten seconds for a handover.
  # The device may be a software device, and the peer is on this host, unless there are two guests.
  flags+=(-Dorg.rdma4j.nio.timeoutSeconds=60 -Dorg.rdma4j.nio.devices=all)
  case $role in
    # The peer runs until its standard input ends.
    --serve) start peer 192.0.2.1 "$port" < <(sleep 800) ;;
    --measure) start over_the_link 192.0.2.1 "$port" ;;
  esac
  if ((!here)); then
    dev/lib/install perftest rdmacm-utils iproute2 libucx0
    dev/lib/build-tools
    build_bench
    [[ " ${chosen[*]} " != *' valkey-'* ]] || dev/lib/valkey >/dev/null
    valkey_flag
    if ((simulated)); then
      LD_PRELOAD=$(dev/lib/simulation)
      MLX5SIM_NETWORK=$(mktemp -d)
      # UCX would replace the mmap by which the simulated adapter hands out its registers.
      export LD_PRELOAD MLX5SIM_NETWORK UCX_MEM_MMAP_HOOK_MODE=none
      # The kernel does not have the address of the simulated adapter.
      flags+=(-Dorg.rdma4j.bench.tcp=127.0.0.1 -Dorg.rdma4j.nio.addressMap=127.0.0.1=192.0.2.1)
      # The index of the GID of RoCE v2 that contains the address.
      start connection "$java" "$jar" mlx5_0 3 192.0.2.1 "$pairs" "${chosen[@]}"
    fi
    ((!between)) || exec dev/guest --timeout 900 --pair 'dev/bench connection --serve' 'dev/bench connection --measure'
    on_device 7200 -p "$pairs" "${chosen[@]}"
  fi
  valkey_flag
  local device gid
  read -r device gid < <(dev/lib/device)
  start connection "$java" "$jar" "$device" "$gid" "$(dev/lib/address "$device" "$gid")" "$pairs" "${chosen[@]}"
}

valkey_flag() {
  [[ ! -x target/valkey/programs/valkey-server ]] || flags+=(-Dorg.rdma4j.bench.valkey=target/valkey/programs)
}

# start CLASS [ARGUMENT...]
start() {
  unset JAVA_TOOL_OPTIONS
  exec "$java" "${flags[@]}" -cp "$(echo bench/target/rdma4j-bench-*.jar):$(<bench/target/classpath)" "${class[$1]}" \
    "${@:2}"
}
