# shellcheck shell=bash
# shellcheck disable=SC2034 # the parts share their variables
# Shared by all parts of scripts/engine: settings, messages, locks, bounded commands.

DEFAULT_IMAGE=glovebox/sandbox:py3
QUIET=0
JSON=0
STARTED=false
BUILT=false
SCRATCH=()

say() {
  [ "$QUIET" = 1 ] || printf 'engine: %s\n' "$*" >&2
}

warn() {
  printf 'engine: warning: %s\n' "$*" >&2
}

# What was seen comes first, then what to do, one line each.
fail() {
  printf 'engine: error: %s\n' "$1" >&2
  shift
  local line
  for line in "$@"; do
    if [ -n "$line" ]; then printf '%s\n' "$line" | sed 's/^/  /' >&2; fi
  done
  exit 1
}

usage_error() {
  printf 'engine: %s\ntry: scripts/engine --help\n' "$1" >&2
  exit 2
}

clean_scratch() {
  local path
  for path in ${SCRATCH[@]+"${SCRATCH[@]}"}; do rm -rf "$path"; done
}
trap clean_scratch EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

json_string() {
  local text=$1
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  printf '"%s"' "$text"
}

seconds_setting() {
  local name=$1 value=$2
  case $value in
    '' | *[!0-9]* | 0) usage_error "$name must be a whole number of seconds above 0, not '$value'" ;;
  esac
}

read_environment() {
  PROBE_SECONDS=${GLOVEBOX_ENGINE_PROBE_SECONDS:-10}
  START_SECONDS=${GLOVEBOX_ENGINE_START_SECONDS:-60}
  PULL_SECONDS=${GLOVEBOX_ENGINE_PULL_SECONDS:-300}
  seconds_setting GLOVEBOX_ENGINE_PROBE_SECONDS "$PROBE_SECONDS"
  seconds_setting GLOVEBOX_ENGINE_START_SECONDS "$START_SECONDS"
  seconds_setting GLOVEBOX_ENGINE_PULL_SECONDS "$PULL_SECONDS"
  # dockerd and its helpers live where a user's PATH often does not look.
  PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
  STATE=${GLOVEBOX_ENGINE_STATE:-}
  if [ -n "$STATE" ]; then
    case $STATE in /*) ;; *) STATE=$PWD/$STATE ;; esac
    STATE=${STATE%/}
    case $STATE in *[[:space:]]*) usage_error "GLOVEBOX_ENGINE_STATE must not contain blanks" ;; esac
    # A unix socket's path may have 107 characters, and the engine adds its own names to the folder's.
    [ ${#STATE} -le 70 ] || usage_error "GLOVEBOX_ENGINE_STATE must not be longer than 70 characters"
    SOCKET=$STATE/docker.sock PIDFILE=$STATE/docker.pid EXEC_ROOT=$STATE/exec
    LOG=$STATE/dockerd.log RECORD=$STATE/started
    if [ -n "${DOCKER_HOST:-}" ] && [ "$DOCKER_HOST" != "unix://$SOCKET" ]; then
      usage_error "DOCKER_HOST and GLOVEBOX_ENGINE_STATE name different engines: unset one"
    fi
  else
    SOCKET=/var/run/docker.sock PIDFILE=/var/run/docker.pid EXEC_ROOT=/var/run/docker
    LOG=/var/log/glovebox-dockerd.log RECORD=/var/run/glovebox-engine/started
  fi
}

# Runs a command and ends it after some seconds; 124 is the exit status of one that was ended.
bounded() {
  local limit=$1 child watcher status=0
  shift
  if command -v timeout >/dev/null; then
    timeout --foreground -k 2 "$limit" "$@"
    return
  fi
  # Named, as a command in the background would otherwise read nothing.
  "$@" <&0 &
  child=$!
  # Short sleeps, so that none is left behind for long when the watcher is ended.
  (while [ "$limit" -gt 0 ]; do sleep 1 && limit=$((limit - 1)); done && kill "$child") >/dev/null 2>&1 &
  watcher=$!
  wait "$child" || status=$?
  kill "$watcher" 2>/dev/null || true
  [ "$status" != 143 ] || status=124
  return "$status"
}

user_name() {
  id -un 2>/dev/null || id -u
}

is_root() {
  [ "$(id -u)" = 0 ]
}

# A folder in a place others can write must be this user's own, or they could put links into it.
private_folder() {
  (umask 077 && mkdir -p "$1") 2>/dev/null || true
  [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && [ -w "$1" ]
}

lock_file() {
  local folder
  if is_root; then
    folder=$(dirname "$RECORD")
    mkdir -p "$folder" || fail "cannot make $folder"
  else
    folder=${XDG_RUNTIME_DIR:-/tmp}/glovebox-engine-$(id -u)
    private_folder "$folder" || fail "$folder is not a writable folder of user $(user_name)" "remove it, or set XDG_RUNTIME_DIR"
  fi
  printf '%s/lock' "$folder"
}

wait_for_lock() {
  local fd=$1 what=$2
  flock -n "$fd" && return
  say "waiting for another run to finish ($what)"
  flock -w 900 "$fd" || fail "another run has held the lock of the $what for 15 minutes" "see what it is doing, then try again"
}

# Long-lived children must be started with descriptor 9 closed, or they would keep the lock.
take_lock() {
  local file
  file=$(lock_file)
  # Without flock (not on Linux) nothing is started or built, so there is nothing to guard.
  command -v flock >/dev/null || return 0
  exec 9>"$file"
  wait_for_lock 9 engine
}

# Prints the end of a log for an error message.
log_tail() {
  [ -s "$1" ] || return 0
  printf 'the end of %s:\n' "$1"
  tail -n 15 "$1" | cut -c 1-400 | sed 's/^/| /'
}
