# shellcheck shell=bash disable=SC2154 # dev/bench sources this file and defines class
# The command start of dev/bench, which sources this file.

readonly jar=tools/target/rdma4j-tools.jar

usage() {
  cat <<'END'
usage: dev/bench start [-n] [-r ROUNDS]

Measures how long a JVM takes from its start to its end, without and with an archive of its classes
(-XX:SharedArchiveFile). The programs run in turn, and the result is the median for each:

  hello        prints a line
  downcall     calls one C function
  devices      lists the RDMA devices (the tool devices)
  completion   writes to itself over an RDMA device and polls the completion

  -n          run on this machine, never in a guest, and leave out completion
  -r ROUNDS   the number of runs of each program (default: 5)

Example: dev/bench start -n -r 9

Exit status: 0 if everything ran, whatever the results; 1 if something failed; 2 for wrong usage; that of dev/guest if
the guest failed.
END
}

run() {
  local here=0 without_device=0 rounds=5
  while (($#)); do
    case $1 in
      --here) here=1 ;;
      -n) without_device=1 ;;
      -r) number "$@" && rounds=$2 && shift ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  if ((!here)); then
    dev/lib/build-tools
    build_bench
    ((without_device)) || on_device 900 -r "$rounds"
  fi
  # JVMs in a guest need an option. If it came from the environment, each JVM would print a line about it.
  read -ra java <<<"$(dev/lib/jdk)/bin/java ${JAVA_TOOL_OPTIONS:-}"
  unset JAVA_TOOL_OPTIONS
  # Only classes in jars are archived.
  class_path=$(echo bench/target/rdma4j-bench-*.jar):$(<bench/target/classpath)
  programs=(hello downcall devices)
  if ((!without_device)); then
    programs+=(completion)
    read -ra device < <(dev/lib/device)
  fi
  times=$(mktemp -d)
  trap 'rm -rf "$times"' EXIT
  measure "$rounds"
}

# measure ROUNDS
measure() {
  local round program
  for program in "${programs[@]}"; do
    # The first run writes the archive.
    run_program "$program" -XX:+AutoCreateSharedArchive "-XX:SharedArchiveFile=$times/$program.jsa"
  done
  for ((round = 1; round <= $1; round++)); do
    for program in "${programs[@]}"; do
      milliseconds run_program "$program" -Xshare:auto >>"$times/$program"
      milliseconds run_program "$program" "-XX:SharedArchiveFile=$times/$program.jsa" >>"$times/$program-archived"
    done
  done
  printf '%-24s %12s %16s\n' 'median ms' plain 'with an archive'
  for program in "${programs[@]}"; do
    printf '%-24s %12s %16s\n' "$program" "$(median "$times/$program")" "$(median "$times/$program-archived")"
  done
}

# run_program PROGRAM OPTION...
run_program() {
  local program=$1
  shift
  case $program in
    # Without a device as its argument it only prints a line.
    hello) run_class "$@" "${class[first_completion]}" ;;
    downcall) run_class "$@" "${class[first_downcall]}" ;;
    devices) "${java[@]}" "$@" -jar "$jar" devices ;;
    completion) run_class "$@" "${class[first_completion]}" "${device[@]}" ;;
  esac >/dev/null
}

# run_class OPTION... CLASS [ARG...]
run_class() { "${java[@]}" --enable-native-access=ALL-UNNAMED -cp "$class_path" "$@"; }

# milliseconds COMMAND...: the time that the command takes
milliseconds() {
  local begin
  begin=$(date +%s%N)
  "$@"
  echo $((($(date +%s%N) - begin) / 1000000))
}

# median FILE
median() {
  local median
  read -r _ _ median _ < <(dev/lib/quartiles <"$1")
  printf '%.0f' "$median"
}
