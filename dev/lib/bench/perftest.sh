# shellcheck shell=bash
# The command perftest of dev/bench, which sources this file.

readonly jar=tools/target/rdma4j-tools.jar

usage() {
  cat <<'END'
usage: dev/bench perftest [-q] [-p PAIRS] [COMPARISON...]

Compares our programs with those of perftest: both run in turn on one device, in pairs, with the same options, and the
result is the median of the ratios of Java's figure to C's. It prints the table of
docs/benchmarks/programs.md.

  -q           send a tenth of the messages: quicker, but our programs are less warm
  -p PAIRS     the number of pairs for each comparison (default: 5)
  COMPARISON   some of: send-lat, send-lat-events, write-lat, read-lat, atomic-lat, send-bw, write-bw, read-bw, atomic-bw,
               message-rate (default: all)

Example: dev/bench perftest -p 3 send-lat write-bw

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage; that of dev/guest if
the guest failed.
END
}

# What each comparison is called in the table, how many messages our program leaves out, and the
# options of both programs. Our programs are slow until the second compiler has compiled them.
# shellcheck disable=SC2016 # backticks of Markdown
readonly -A title=(
  [send-lat]='`send-lat`, 64 bytes, polling'
  [send-lat-events]='`send-lat`, 64 bytes, events'
  [write-lat]='`write-lat`, 64 bytes'
  [read-lat]='`read-lat`, 64 bytes'
  [atomic-lat]='`atomic-lat`'
  [send-bw]='`send-bw`, 64 KiB'
  [write-bw]='`write-bw`, 64 KiB'
  [read-bw]='`read-bw`, 64 KiB'
  [atomic-bw]='`atomic-bw`'
  [message-rate]='`write-bw`, 64 bytes, `-l 16 -q 4`'
)
readonly -A warmup=(
  [send-lat]=100000 [send-lat-events]=20000 [write-lat]=100000 [read-lat]=100000 [atomic-lat]=100000
  [send-bw]=30000 [write-bw]=30000 [read-bw]=30000 [atomic-bw]=100000 [message-rate]=720000
)
readonly -A options=(
  [send-lat]='send-lat -s 64 -n 150000'
  [send-lat-events]='send-lat -s 64 -n 30000 -e'
  [write-lat]='write-lat -s 64 -n 150000'
  [read-lat]='read-lat -s 64 -n 150000'
  [atomic-lat]='atomic-lat -n 150000'
  [send-bw]='send-bw -s 65536 -n 45000 -N'
  [write-bw]='write-bw -s 65536 -n 45000 -N'
  [read-bw]='read-bw -s 65536 -n 45000 -N'
  [atomic-bw]='atomic-bw -n 150000 -N'
  [message-rate]='write-bw -s 64 -n 240000 -l 16 -q 4 -N'
)
readonly all=(send-lat send-lat-events write-lat read-lat atomic-lat send-bw write-bw read-bw atomic-bw message-rate)

run() {
  local here=0 pairs=5 chosen=() each rows=() arguments=("$@")
  zeros=''
  while (($#)); do
    case $1 in
      --here) here=1 ;;
      -q) zeros=0 ;;
      -p) number "$@" && pairs=$2 && shift ;;
      -*) unknown "$1" ;;
      *)
        [[ ${options[$1]:-} ]] || unknown "$1"
        chosen+=("$1")
        ;;
    esac
    shift
  done
  ((${#chosen[@]})) || chosen=("${all[@]}")
  if ((!here)); then
    dev/lib/install perftest iproute2
    dev/lib/build-tools
    on_device 7200 "${arguments[@]}"
  fi
  read -r device gid < <(dev/lib/device)
  # With the second compiler only, and the system memory barrier, for the reasons that pingpong.sh gives.
  java=("$(dev/lib/jdk)/bin/java" -XX:-TieredCompilation -XX:+UseSystemMemoryBarrier)
  unset JAVA_TOOL_OPTIONS
  output=$(mktemp)
  trap 'rm -f "$output"' EXIT
  for each in "${chosen[@]}"; do
    compare "$each" "$pairs"
    rows+=("$(row "$each")")
  done
  echo
  echo '| program | pairs | C, median | Java / C | half of them | conclusion |'
  echo '|---|---|---|---|---|---|'
  printf '%s\n' "${rows[@]}"
}

# compare COMPARISON PAIRS
compare() {
  local program both pin=() early=()
  # A message of 64 KiB takes so long that a method is called 10,000 times, and compiled, only after many of them. What is
  # compiled so early is slower for small messages.
  [[ $1 == *-lat* ]] || early=(-XX:CompileThreshold=800)
  read -r program both <<<"${options[$1]}"
  # A tenth has a zero less.
  if [[ $zeros && "$both " =~ ^(.*-n [0-9]+)0( .*)$ ]]; then both=${BASH_REMATCH[1]}${BASH_REMATCH[2]}; fi
  (($(nproc) == 1)) || pin=(--pin)
  # shellcheck disable=SC2086 # several options
  "${java[@]}" "${early[@]}" -jar "$jar" compare "$program" -N "$2" --warmup "${warmup[$1]%"$zeros"}" "${pin[@]}" -- \
    -d "$device" -x "$gid" $both | tee "$output"
}

# row COMPARISON: a row of the table, made of the output of compare
row() {
  local c
  c=$(awk '$1 ~ /^[0-9]+$/ && NF == 4 { print $2 }' "$output" | dev/lib/quartiles | cut -d ' ' -f 3)
  awk -v title="${title[$1]}" -v c="$c" '
    $1 ~ /^[0-9]+$/ && NF == 4 { pairs++ }
    /^median ratio/ { median = $3 + 0; low = $8; high = $10 + 0; conclusion = ""; found = 1; next }
    found && !conclusion { conclusion = $0 }
    END { printf "| %s | %d | %s | %.2f | %.2f to %.2f | %s |\n", title, pairs, c, median, low, high, conclusion }
  ' "$output"
}
