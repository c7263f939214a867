# Shared by tools/quickstart and tools/check: packages, configuration, build. Sourced, never run.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
t0=$SECONDS

# say TEXT: one line of progress with the time since the start.
say() { printf '[%3d s] %s\n' $((SECONDS - t0)) "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# packages GROUP...: the packages of these groups in tools/packages.txt.
packages() {
  local group
  for group in "$@"; do awk -v g="$group" '$1 == g { print $2 }' "$top/tools/packages.txt"; done
}

missing_packages() {
  local p
  for p in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
  done
}

# apt_quiet TEXT COMMAND...: runs an apt command, its output in a log, with a line of progress every 10 s.
apt_quiet() {
  local text=$1 log pid waited=0 rc=0
  shift
  log=$(mktemp)
  DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    [ $((waited % 10)) = 0 ] && say "$text ... ($(grep -c '^\(Get:\|Unpacking\|Setting up\)' "$log") steps)"
  done
  wait "$pid" || rc=$?
  [ $rc = 0 ] || tail -n 5 "$log" >&2
  rm -f "$log"
  return $rc
}

# install_packages required|optional GROUP...: installs what is missing. Optional groups may fail, package by package.
install_packages() {
  local need=$1 todo p
  shift
  mapfile -t todo < <(missing_packages $(packages "$@"))
  [ ${#todo[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "these packages are missing and only root can install them: ${todo[*]}
  run as root:  apt-get install --no-install-recommends ${todo[*]}"
  command -v apt-get >/dev/null || die "no apt-get here; install by hand what these Debian packages hold: ${todo[*]}"
  say "installing ${#todo[@]} packages: ${todo[*]}"
  if ! apt_quiet "installing" apt-get install -y --no-install-recommends "${todo[@]}"; then
    say "reading the package lists"
    apt_quiet "package lists" apt-get update || say "apt-get update failed; going on with the lists there are"
    if ! apt_quiet "installing" apt-get install -y --no-install-recommends "${todo[@]}"; then
      [ "$need" = optional ] || die "could not install: ${todo[*]}"
      for p in "${todo[@]}"; do
        apt_quiet "installing $p" apt-get install -y --no-install-recommends "$p" || say "not available here: $p (tests that need it are skipped)"
      done
    fi
  fi
}

# installed_targets DIR: what of DIR/obj is installed, as ninja targets; the tests are not.
installed_targets() {
  meson introspect --targets "$1/obj" | python3 -c '
import json, os, sys
top = os.path.realpath(sys.argv[1])
for target in json.load(sys.stdin):
    if target["installed"]:
        print("\n".join(os.path.relpath(os.path.realpath(name), top) for name in target["filename"]))' "$1/obj"
}

# build_tree DIR all|installed [meson setup options]: configures DIR/obj, builds everything or only what is installed, and
# installs into DIR/{bin,lib,include,examples}.
build_tree() {
  local dir=$1 what=$2 jobs targets=()
  shift 2
  if [ -z "${CC:-}" ] && command -v ccache >/dev/null; then export CC='ccache gcc' CXX='ccache g++'; fi
  if [ ! -f "$dir/obj/build.ninja" ]; then
    say "configuring $dir"
    mkdir -p "$dir"
    meson setup "$dir/obj" "$top" --prefix="$dir" --libdir=lib "$@" >"$dir/configure.log" 2>&1 ||
      { tail -n 20 "$dir/configure.log" >&2; die "meson setup failed; the whole log: $dir/configure.log"; }
  fi
  # Configured before Catch2 was there (by quickstart): look again.
  if [ "$what" = all ] && [ "$(meson introspect --tests "$dir/obj")" = '[]' ]; then
    say "configuring $dir again, for the tests"
    meson setup --reconfigure "$dir/obj" "$top" >"$dir/configure.log" 2>&1 ||
      { tail -n 20 "$dir/configure.log" >&2; die "meson setup failed; the whole log: $dir/configure.log"; }
  fi
  jobs=${JOBS:-$(nproc)}
  [ "$what" = all ] || mapfile -t targets < <(installed_targets "$dir")
  say "building $dir with $jobs jobs (progress every 15 s)"
  ninja_progress "$dir" -j "$jobs" "${targets[@]}" || { grep -m1 -A25 '^FAILED' "$dir/build.log" >&2; die "the build failed; the whole log: $dir/build.log"; }
  meson install -C "$dir/obj" --no-rebuild >"$dir/install.log" 2>&1 || { tail -n 5 "$dir/install.log" >&2; die "installing into $dir failed"; }
  say "built: $dir/bin $dir/lib $dir/examples"
}

ninja_progress() {
  local dir=$1 pid waited=0 rc=0
  shift
  ninja -C "$dir/obj" "$@" >"$dir/build.log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    [ $((waited % 15)) = 0 ] && say "building $(tail -n 1 "$dir/build.log" | grep -o '^\[[0-9]*/[0-9]*\]')"
  done
  wait "$pid" || rc=$?
  return $rc
}
