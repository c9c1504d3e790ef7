# shellcheck shell=bash
# The command cm of dev/bench, which sources this file.

readonly jar=tools/target/rdma4j-tools.jar
readonly port=7471
readonly pings=2000 ping_warmup=8000
readonly connections=100 rounds=60
readonly exchanges=10000 exchange_warmup=30000

usage() {
  cat <<'END'
usage: dev/bench cm [-p PAIRS]

Compares rping and cmtime with the C programs of the same names, and the round trip of a message over a connection with
rc-pingpong. The two programs of a comparison run in turn on one device, in pairs, and the result is the median of the
ratios of these pairs.

  -p PAIRS   the number of pairs for each comparison (default: 7)

Example: dev/bench cm -p 3

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage; that of dev/guest if
the guest failed.
END
}

run() {
  local here=0 pairs=7
  while (($#)); do
    case $1 in
      --here) here=1 ;;
      -p) number "$@" && pairs=$2 && shift ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  if ((!here)); then
    dev/lib/install rdmacm-utils iproute2
    dev/lib/build-tools
    on_device 3600 -p "$pairs"
  fi
  read -r device gid < <(dev/lib/device)
  address=$(dev/lib/address "$device" "$gid")
  # With the second compiler only, for the reason that pingpong.sh gives.
  java=("$(dev/lib/jdk)/bin/java" -XX:-TieredCompilation -jar "$jar")
  # A connection executes much code, but each part of it seldom: without the first compiler it would be interpreted for
  # a long time.
  java_connecting=("$(dev/lib/jdk)/bin/java" -XX:-TieredCompilation -XX:CompileThreshold=800 -jar "$jar")
  unset JAVA_TOOL_OPTIONS
  trap report_failure EXIT
  compare 'rping -C 2000 -S 64, us per ping' C Java c_rping java_rping
  compare 'cmtime -c 100, us to set up a connection' C Java c_cmtime java_cmtime
  compare '64-byte round trip, us' 'rc-pingpong -e' connection \
    'rc_pingpong -e' connection_pingpong
  compare '64-byte round trip if rc-pingpong polls, us' rc-pingpong connection rc_pingpong connection_pingpong
}

# Some of the programs fail without a message, and the messages of others are not shown.
report_failure() {
  (($? == 0)) || echo "dev/bench: $measured failed: run its programs alone to see why" >&2
}

# compare TITLE LEFT RIGHT LEFT_FUNCTION RIGHT_FUNCTION
compare() {
  local i left right ratios=()
  echo "== $1"
  printf '%6s %14s %14s %8s\n' pair "$2" "$3" ratio
  for ((i = 1; i <= pairs; i++)); do
    measured="$2 ($1)"
    left=$($4)
    measured="$3 ($1)"
    right=$($5)
    ratios+=("$(ratio "$right" "$left")")
    printf '%6d %14s %14s %8s\n' "$i" "$left" "$right" "${ratios[-1]}"
  done
  print_median "${ratios[@]}"
}

# serve COMMAND...: starts a server and waits until it listens; it ends with the subshell of the measurement, or before
serve() {
  trap 'kill "$server" 2>/dev/null || true' EXIT
  "$@" >/dev/null 2>&1 &
  server=$!
  dev/lib/await-listening "$server" "$port" || die "could not start the server; run it alone to see why: $*"
}

# C prints no times: the time of one ping, which includes the start of the process and the connection, is subtracted.
c_rping() {
  local many one
  many=$(c_pings "$((pings + 1))")
  one=$(c_pings 1)
  awk -v many="$many" -v one="$one" -v n="$pings" 'BEGIN { printf "%.2f", (many - one) / n }'
}

# c_pings COUNT: the time that the client takes, in us
c_pings() {
  local begin
  serve rping -s -a "$address" -p "$port"
  begin=${EPOCHREALTIME/./}
  rping -c -a "$address" -p "$port" -C "$1" -S 64 >/dev/null 2>&1
  echo $((${EPOCHREALTIME/./} - begin))
  wait "$server" || true
}

java_rping() {
  serve "${java[@]}" rping -s -a "$address" -p "$port"
  "${java[@]}" rping -c -a "$address" -p "$port" -C "$pings" -S 64 --warmup "$ping_warmup" 2>/dev/null |
    sed -n 's/.* = \([0-9.]*\) usec\/ping$/\1/p'
  wait "$server"
}

c_cmtime() {
  serve cmtime -b "$address" -p "$port"
  cmtime -s "$address" -p "$port" -c "$connections" | set_up_time
  end_server
}

java_cmtime() {
  serve "${java_connecting[@]}" cmtime -b "$address" -p "$port"
  "${java_connecting[@]}" cmtime -s "$address" -p "$port" -c "$connections" --warmup "$rounds" | set_up_time
  end_server
}

# The sum of the steps from creating the identifier to being connected, for each connection.
set_up_time() {
  awk -F: '/^(create|resolve|connect)/ { n = split($2, a, " "); sum += a[n] } END { printf "%.2f", sum }'
}

# A server of cmtime does not end by itself.
end_server() {
  kill "$server"
  wait "$server" 2>/dev/null || true
}

# rc_pingpong [OPTION...]
rc_pingpong() {
  local command=("${java[@]}" rc-pingpong -d "$device" -g "$gid" -p "$port" -s 64 -n "$exchanges" "$@")
  command+=(--warmup "$exchange_warmup")
  serve "${command[@]}"
  "${command[@]}" localhost | per_iteration
  wait "$server"
}

connection_pingpong() {
  local command=("${java[@]}" connection-pingpong -p "$port" -s 64)
  serve "${command[@]}"
  "${command[@]}" -n "$exchanges" --warmup "$exchange_warmup" "$address" | per_iteration
  wait "$server"
}
