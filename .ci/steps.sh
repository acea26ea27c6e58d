# Functions of .ci/run.

logs=$(mktemp -d)
declare -A rows=()
fetching=()

# NAME COMMAND...: runs a step and prints its duration
step() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  local took=$((SECONDS - begin))
  printf '== %s: %d:%02d\n' "$name" $((took / 60)) $((took % 60))
}

left_out() { echo "left out: $1 cannot be had here"; }

# PROGRAM PACKAGE: ensures that a program is installed, if necessary from a Debian package
have() { command -v "$1" > /dev/null || { apt-get update -qq && apt-get install -qq --no-install-recommends "$2" > /dev/null; }; }

# NAME COMMAND...: starts a command in the background at low priority; `fetched NAME` waits for it
fetch() {
  local name=$1
  shift
  set -m # in a separate process group
  { renice -n 10 "$BASHPID" > /dev/null; "$@" && touch "$logs/$name.done" || touch "$logs/$name.failed"; } > "$logs/$name.log" 2>&1 < /dev/null &
  fetching+=($!)
  set +m
}

# NAME: waits for the command of `fetch NAME`. If that failed, prints its output and fails
fetched() {
  until [[ -e "$logs/$1.done" || -e "$logs/$1.failed" ]]; do sleep 0.2; done
  [[ -e "$logs/$1.done" ]] || { cat "$logs/$1.log" >&2; return 1; }
}

# FUNCTION...: runs rows of steps concurrently, each in its own process group. Prints the output of a row at its end, and
# stops all rows at the first failure
side_by_side() {
  local row pid status
  set -m
  for row in "$@"; do
    "$row" > "$logs/$row.log" 2>&1 < /dev/null &
    rows[$!]=$row
  done
  set +m
  while ((${#rows[@]} > 0)); do
    status=0
    wait -n -p pid "${!rows[@]}" || status=$?
    cat "$logs/${rows[$pid]}.log"
    unset "rows[$pid]"
    ((status == 0)) || exit "$status"
  done
}

stop_all() {
  local pid
  for pid in "${!rows[@]}" "${fetching[@]}"; do kill -- "-$pid" 2> /dev/null || true; done
  rm -rf "$logs"
}
trap stop_all EXIT
