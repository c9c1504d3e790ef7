# Functions that fetch and unpack packages of any Debian release, with an apt configuration of their own: nothing on this
# machine is installed or changed. To be sourced. `cache` must be a directory, note and die functions that print.
# shellcheck shell=bash

# use_debian debian12|debian13|backports|sid ARCHITECTURE: the release and architecture that the other functions use
use_debian() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror release suite
  mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | awk 'sub("/debian/*$", "") && !n++')}
  [[ $mirror ]] || die 'apt on this machine knows no archive of Debian: set DEBIAN_MIRROR to the URL that "debian" is under'
  apt=$cache/apt-$1-$2
  case $1 in
    debian12) suites=(bookworm bookworm-security) ;;
    debian13) suites=(trixie trixie-security) ;;
    backports) suites=(trixie trixie-security trixie-backports) ;;
    sid) suites=(sid) ;;
  esac
  apt_options=(
    -qq -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt"
    -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o "APT::Architecture=$2" -o "APT::Architectures=$2" -o APT::Sandbox::User=root -o Acquire::Languages=none
    -o APT::Install-Recommends=false
  )
  [[ $1 != backports ]] || apt_options+=(-o APT::Default-Release=trixie-backports)

  mkdir -p "$apt"/{lists,archives}/partial
  touch "$apt/status"
  for suite in "${suites[@]}"; do
    release=debian
    [[ $suite != *-security ]] || release=debian-security
    echo "deb [signed-by=$keyring] $mirror/$release $suite main"
  done >"$apt/sources.list"
  apt-get "${apt_options[@]}" update >&2 ||
    die "could not read Debian's lists of packages for $1: check that $mirror is reachable"
}

# newest PACKAGE: prints its version
newest() { apt-cache "${apt_options[@]}" show --no-all-versions "$1" | sed -n 's/^Version: //p'; }

# dependencies PACKAGE PATTERN: prints those of its direct dependencies whose names begin with the pattern
dependencies() {
  apt-cache "${apt_options[@]}" depends --no-recommends --no-suggests "$1" | sed -nE "s/^ *Depends: ($2)/\\1/p"
}

# unpack DIRECTORY PACKAGE...: unpacks these packages alone
unpack() {
  local directory=$1
  shift
  note "fetching $* ($(apt-get "${apt_options[@]}" download --print-uris "$@" | total_size))"
  rm -f "$apt"/archives/*.deb
  (cd "$apt/archives" && apt-get "${apt_options[@]}" download "$@" >&2) ||
    die "could not fetch $*: check the network"
  unpack_archives "$directory"
}

# unpack_with_dependencies DIRECTORY PACKAGE...: unpacks these packages and what they depend on; if leave_out_installed
# is set, without dependencies that this machine has in the same or a newer version
unpack_with_dependencies() {
  local directory=$1
  shift
  note "fetching $* and what they depend on ($(apt-get "${apt_options[@]}" install --print-uris -y "$@" | total_size))"
  rm -f "$apt"/archives/*.deb
  apt-get "${apt_options[@]}" install --download-only -y "$@" >&2 || die "could not fetch $*: check the network"
  unpack_archives "$directory" "$@"
}

# The lines are 'URL' NAME SIZE HASH.
total_size() { awk '{ size += $3 } END { printf "%d MB", size / 1e6 + 0.5 }'; }

# unpack_archives DIRECTORY [PACKAGE...]
unpack_archives() {
  local directory=$1 archive name
  shift
  # The directories of a release are merged when it is installed, and its packages do not show that.
  mkdir -p "$directory"/usr/{bin,sbin,lib,lib64}
  for name in bin sbin lib lib64; do ln -sfn "usr/$name" "$directory/$name"; done
  for archive in "$apt"/archives/*.deb; do
    name=$(dpkg-deb --field "$archive" Package)
    [[ ! ${leave_out_installed-} || " $* " == *" $name "* ]] || ! is_installed "$name" "$archive" || continue
    dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$directory" --keep-directory-symlink --no-same-owner
  done
  rm -f "$apt"/archives/*.deb
}

# is_installed PACKAGE ARCHIVE: whether this machine has the package in the version of the archive or a newer one
is_installed() {
  local here
  here=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) &&
    dpkg --compare-versions "$here" ge "$(dpkg-deb --field "$2" Version)"
}
