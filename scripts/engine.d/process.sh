# shellcheck shell=bash
# shellcheck disable=SC2034 # the parts share their variables
# Which process is the engine: pid files, what they may not be trusted for, and stopping.

# A pid alone is no identity, as pids are reused: the start time goes with it.
start_time() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # The command's name may hold blanks and brackets, so fields are counted after the last bracket.
  # shellcheck disable=SC2086 # split on purpose
  set -- ${stat##*) }
  # A zombie has ended; it only waits to be reaped.
  [ "$1" != Z ] && echo "${20}"
}

# is_process PID NAME: whether that pid is a live process of that program.
is_process() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] && start_time "$1" >/dev/null
}

read_pid() {
  [ -r "$1" ] || return 0
  tr -cd '0-9' <"$1" | cut -c 1-10
}

# option_value PID NAME: the value of a command line's --NAME VALUE or --NAME=VALUE.
option_value() {
  tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null |
    awk -v name="--$2" 'index($0, name "=") == 1 { value = substr($0, length(name) + 2) } seen { value = $0 } { seen = $0 == name } END { print value }'
}

# The pid of the live dockerd that owns the pid file, if there is one.
live_engine() {
  local pid own
  pid=$(read_pid "$PIDFILE")
  is_process "$pid" dockerd || return 1
  # The pid may have been reused by a dockerd of another engine.
  own=$(option_value "$pid" pidfile)
  own=${own:-/var/run/docker.pid}
  [ "$own" -ef "$PIDFILE" ] && echo "$pid"
}

live_containerd() {
  local pid
  pid=$(read_pid "$EXEC_ROOT/containerd/containerd.pid")
  is_process "$pid" containerd || return 1
  # Its configuration file in the exec root tells this engine's containerd from any other.
  [ "$(option_value "$pid" config)" -ef "$EXEC_ROOT/containerd/containerd.toml" ] && echo "$pid"
}

# An engine that was killed leaves files that would stop the next one, or make it kill a stranger.
clear_stale() {
  local pid
  if [ -e "$PIDFILE" ]; then
    say "removing the stale pid file $PIDFILE (process $(read_pid "$PIDFILE") is not this engine)"
    rm -f "$PIDFILE"
  fi
  if [ -e "$EXEC_ROOT/containerd/containerd.pid" ] && ! live_containerd >/dev/null; then
    # dockerd trusts this pid: it would wait for that process, and then kill it.
    pid=$(read_pid "$EXEC_ROOT/containerd/containerd.pid")
    say "removing stale containerd files in $EXEC_ROOT/containerd (process $pid is not its containerd)"
    rm -f "$EXEC_ROOT"/containerd/containerd.pid "$EXEC_ROOT"/containerd/*.sock "$EXEC_ROOT"/containerd/*.sock.ttrpc
  fi
  # dockerd takes this file for a running containerd, even when nobody listens on it.
  if [ -S /run/containerd/containerd.sock ] && ! probe unix:///run/containerd/containerd.sock docker -H unix:///run/containerd/containerd.sock && [ "$PROBE" = refused ]; then
    say "removing the stale socket /run/containerd/containerd.sock (nobody listens on it)"
    rm -f /run/containerd/containerd.sock
  fi
}

# record_process NAME PID: what stop may end later.
record_process() {
  local started
  started=$(start_time "$2") || return 0
  {
    [ ! -f "$RECORD" ] || grep -v "^$1 " "$RECORD" || true
    echo "$1 $2 $started"
  } >"$RECORD.new"
  mv -f "$RECORD.new" "$RECORD"
}

# recorded_process NAME: its pid, if it is still the very process that was recorded.
recorded_process() {
  local name pid started
  [ -r "$RECORD" ] || return 1
  while read -r name pid started; do
    if [ "$name" = "$1" ] && is_process "$pid" "$name" && [ "$(start_time "$pid")" = "$started" ]; then
      echo "$pid"
      return 0
    fi
  done <"$RECORD"
  return 1
}

# end_process PID SECONDS: asks a process to end and waits for it.
end_process() {
  local pid=$1 left=$(($2 * 10)) started
  started=$(start_time "$pid") || return 0
  kill -TERM "$pid" 2>/dev/null || true
  while [ "$(start_time "$pid" || true)" = "$started" ]; do
    [ "$left" -gt 0 ] || return 1
    left=$((left - 1))
    sleep 0.1
  done
}

# A killed engine leaves its mounts, and its folder could then not be removed.
unmount_state() {
  [ -n "$STATE" ] || return 0
  awk -v under="$STATE/" 'index($5, under) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r path; do
    umount "$path" 2>/dev/null || true
  done
}

stop_engine() {
  local name pid stopped=false
  if [ -e "$RECORD" ]; then
    is_root || fail "stopping the engine needs root, as starting it did"
    take_lock
    # dockerd ends its containerd itself; the second is for a dockerd that was killed.
    for name in dockerd containerd; do
      pid=$(recorded_process "$name") || continue
      end_process "$pid" 40 || fail "$name (process $pid) did not end within 40 s" "see $LOG; it can be ended with: kill -9 $pid"
      say "stopped $name (process $pid)"
      stopped=true
    done
    rm -f "$RECORD"
    unmount_state
  fi
  [ "$stopped" = true ] || say "no engine that this script started is running"
  if [ "$JSON" = 1 ]; then printf '{"stopped":%s}\n' "$stopped"; fi
}
