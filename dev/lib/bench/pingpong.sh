# shellcheck shell=bash
# The command pingpong of dev/bench, which sources this file.
#
# The C programs are started for each pair. The Java programs are started once for each variant and warmed up; then they
# run one round for each pair, and are stopped (SIGSTOP) while other programs run. In both languages the server has one
# processor to itself and the client another: where the kernel places them makes more difference than the language.

readonly jar=tools/target/rdma4j-tools.jar
readonly port=18515 iterations=10000 warmup=200000

usage() {
  cat <<'END'
usage: dev/bench pingpong [-u] [-s BYTES] [-e] [-p PAIRS]
       dev/bench pingpong -a [-p PAIRS]

Compares rc-pingpong and uc-pingpong with ibv_rc_pingpong and ibv_uc_pingpong. Both run in turn on one device, in pairs,
and the result is the median of the ratios of their times per iteration.

  -u         UC (default: RC)
  -s BYTES   the length of a message (default: 64)
  -e         sleep until a completion event arrives (default: poll)
  -a         four variants in turn: RC with 64 bytes, the same with events, UC with 64 bytes, RC with 4096 bytes
  -p PAIRS   the number of pairs for each variant (default: 31)

Example: dev/bench pingpong -s 4096 -p 7

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage; that of dev/guest if
the guest failed.
END
}

variants=() servers=() clients=() inputs=() outputs=() ratios=()

run() {
  local here=0 kind=rc size=64 pairs=31 events='' all=0 arguments=("$@")
  while (($#)); do
    case $1 in
      --here) here=1 ;;
      -u) kind=uc ;;
      -s) number "$@" && size=$2 && shift ;;
      -p) number "$@" && pairs=$2 && shift ;;
      -e) events=' -e' ;;
      -a) all=1 ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  if ((!here)); then
    dev/lib/install ibverbs-utils iproute2
    dev/lib/build-tools
    on_device 1800 "${arguments[@]}"
  fi
  variants=("$kind -s $size$events")
  ((!all)) || variants=('rc -s 64' 'rc -s 64 -e' 'uc -s 64' 'rc -s 4096')
  read -r device gid < <(dev/lib/device)
  # In a guest, JVMs use the first compiler only, because tiers, which replace code while it runs, make them crash
  # there. The second compiler alone does not, and it is the one that matters for a program.
  # The system memory barrier spares plain calls their fences; soft-RoCE has plain calls on the hot path.
  java=("$(dev/lib/jdk)/bin/java" -XX:-TieredCompilation -XX:+UseSystemMemoryBarrier)
  unset JAVA_TOOL_OPTIONS
  server_on=() client_on=()
  (($(nproc) == 1)) || server_on=(taskset -c 0) client_on=(taskset -c 1)
  pipes=$(mktemp -d)
  trap clean_up EXIT
  compare "$pairs"
}

# compare PAIRS
compare() {
  local i pair c_time java_time ratio
  for i in "${!variants[@]}"; do
    start_java "$i" "$1"
  done
  printf '%6s %-14s %14s %14s %8s\n' pair variant 'C us/iter' 'Java us/iter' ratio
  for ((pair = 1; pair <= $1; pair++)); do
    for i in "${!variants[@]}"; do
      c_time=$(run_c "$i")
      java_time=$(run_java "$i")
      ratio=$(ratio "$java_time" "$c_time")
      ratios[i]+="$ratio "
      printf '%6d %-14s %14s %14s %8s\n' "$pair" "${variants[i]}" "$c_time" "$java_time" "$ratio"
    done
  done
  for i in "${!variants[@]}"; do
    printf '%s: ' "${variants[i]}"
    # shellcheck disable=SC2086 # several numbers
    print_median ${ratios[i]}
  done
}

# set_command VARIANT C|JAVA: sets the array command
set_command() {
  local kind options
  read -r kind options <<<"${variants[$1]}"
  read -ra options <<<"-d $device -g $gid -n $iterations $options"
  if [[ $2 == C ]]; then
    command=("ibv_${kind}_pingpong" -p "$port" "${options[@]}")
  else
    command=("${java[@]}" -jar "$jar" "$kind-pingpong" -p "$((port + 1 + $1))" "${options[@]}" --warmup "$warmup")
    # While a program is stopped, it receives nothing from its peer.
    command+=(--timeout 3600)
  fi
}

# run_c VARIANT: prints the client's time per iteration
run_c() {
  local server output
  set_command "$1" C
  "${server_on[@]}" "${command[@]}" >/dev/null &
  server=$!
  dev/lib/await-listening "$server" "$port"
  output=$("${client_on[@]}" "${command[@]}" localhost) || { kill "$server" && exit 1; }
  wait "$server"
  per_iteration <<<"$output"
}

# start_java VARIANT PAIRS: starts the programs and lets them run a round that does not count
start_java() {
  local input output
  set_command "$1" JAVA
  command+=(--rounds "$(($2 + 1))")
  "${server_on[@]}" "${command[@]}" >/dev/null &
  servers[$1]=$!
  dev/lib/await-listening "${servers[$1]}" "$((port + 1 + $1))"
  mkfifo "$pipes/$1.in" "$pipes/$1.out"
  "${client_on[@]}" "${command[@]}" localhost <"$pipes/$1.in" >"$pipes/$1.out" &
  clients[$1]=$!
  # Otherwise the shell reports each of them when it is killed.
  disown "${servers[$1]}" "${clients[$1]}"
  exec {input}>"$pipes/$1.in" {output}<"$pipes/$1.out"
  inputs[$1]=$input
  outputs[$1]=$output
  await_round "$1" >/dev/null
  stop "$1"
}

# run_java VARIANT: runs a round and prints the client's time per iteration
run_java() {
  kill -CONT "${servers[$1]}" "${clients[$1]}"
  echo >&"${inputs[$1]}"
  await_round "$1"
  stop "$1"
}

# After the last round the programs end, or have ended.
stop() { kill -STOP "${servers[$1]}" "${clients[$1]}" 2>/dev/null || true; }

# await_round VARIANT: prints the client's time per iteration. It blocks, because checking again and again would disturb
# programs that poll.
await_round() {
  local line
  while IFS= read -r -t 600 line; do
    [[ $line =~ \ =\ ([0-9.]+)\ usec/iter$ ]] && echo "${BASH_REMATCH[1]}" && return
  done <&"${outputs[$1]}"
  die "the client of '${variants[$1]}' ended early, or printed nothing for 10 minutes"
}

clean_up() {
  kill -KILL "${servers[@]}" "${clients[@]}" 2>/dev/null || true
  rm -rf "$pipes"
}
