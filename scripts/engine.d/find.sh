# shellcheck shell=bash
# shellcheck disable=SC2034 # the parts share their variables
# Finding an engine: which places are looked at, and what each of them answered.

ENGINE_HOST=
SERVER_VERSION=
SERVER_ARCH=
DOCKER=(docker)
SEEN=()
DENIED=
SOCKET_PROBE=missing

have_cli() {
  command -v docker >/dev/null
}

# Why a socket cannot be reached, told without connecting; nothing if it can be tried.
socket_trouble() {
  local path=$1 folder
  if [ ! -e "$path" ]; then
    folder=$(dirname "$path")
    while [ ! -d "$folder" ] && [ "$folder" != / ] && [ "$folder" != . ]; do folder=$(dirname "$folder"); done
    if [ -x "$folder" ]; then echo missing; else echo denied; fi
  elif [ ! -S "$path" ]; then
    echo "not a socket"
  elif [ ! -w "$path" ]; then
    echo denied
  fi
}

# probe HOST COMMAND...: asks the server for its version; PROBE is "ok" or what is wrong.
probe() {
  local host=$1 out status=0
  shift
  PROBE=
  case $host in unix://*) PROBE=$(socket_trouble "${host#unix://}") ;; esac
  [ -z "$PROBE" ] || return 1
  out=$(bounded "$PROBE_SECONDS" "$@" version --format 'server={{.Server.Version}} {{.Server.Arch}}' 2>&1 </dev/null) || status=$?
  case $status,$out in
    0,*server=[0-9A-Za-z]*)
      PROBE=ok out=${out##*server=}
      SERVER_VERSION=${out%% *} SERVER_ARCH=${out##* }
      return 0
      ;;
    124,* | 137,*) PROBE="hangs: no answer within $PROBE_SECONDS s" ;;
    *[Pp]ermission\ denied*) PROBE=denied ;;
    *Cannot\ connect* | *refused*) PROBE=refused ;;
    *) PROBE=$(printf '%s\n' "$out" | grep -v '^ *$' | tail -n 1 | cut -c 1-300) ;;
  esac
  return 1
}

# try_engine HOST LABEL COMMAND...: takes the engine if it answers, else notes what was seen.
try_engine() {
  local host=$1 label=$2 text
  shift 2
  if probe "$host" "$@"; then
    ENGINE_HOST=$host
    DOCKER=("$@")
    return 0
  fi
  if [ "$host" = "unix://$SOCKET" ]; then SOCKET_PROBE=$PROBE; fi
  case $PROBE in
    missing) text="no such socket" ;;
    denied) text="permission denied for user $(user_name)" && DENIED=${DENIED:-$host} ;;
    refused) text="nobody answers (connection refused)" ;;
    *) text=$PROBE ;;
  esac
  SEEN+=("$label: $text")
  return 1
}

# The name of the context the docker command would use, if it is not the default one.
saved_context() {
  local config=${DOCKER_CONFIG:-${HOME:-}/.docker}/config.json
  [ -r "$config" ] || return 0
  tr -d '\n' <"$config" | sed -n 's/.*"currentContext"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p'
}

try_context() {
  local name=$1 host
  host=$(bounded "$PROBE_SECONDS" docker context inspect --format '{{.Endpoints.docker.Host}}' "$name" 2>/dev/null) || host=
  if [ -z "$host" ]; then
    SEEN+=("context $name: the docker command does not know it")
    return 1
  fi
  try_engine "$host" "context $name ($host)" docker --context "$name"
}

# A choice made in the environment is obeyed or is an error: another engine is never taken in its place.
explicit_failed() {
  local what=$1
  if [ -n "$DENIED" ]; then permission_denied "$DENIED"; fi
  fail "$what is set, and the engine it names does not answer" "${SEEN[@]}" "start that engine, correct $what, or unset it to have an engine looked for"
}

find_engine() {
  local name path tried=" "
  SEEN=() DENIED=
  if [ -n "$STATE" ]; then
    try_engine "unix://$SOCKET" "unix://$SOCKET" docker -H "unix://$SOCKET"
    return
  fi
  if [ -n "${DOCKER_HOST:-}" ]; then
    try_engine "$DOCKER_HOST" "$DOCKER_HOST" docker || explicit_failed DOCKER_HOST
    return 0
  fi
  if [ -n "${DOCKER_CONTEXT:-}" ] && [ "$DOCKER_CONTEXT" != default ]; then
    try_context "$DOCKER_CONTEXT" || explicit_failed DOCKER_CONTEXT
    return 0
  fi
  name=$(saved_context)
  if [ -n "$name" ] && [ "$name" != default ]; then
    if try_context "$name"; then return 0; fi
    warn "${SEEN[0]}; looking for another engine"
  fi
  for path in "$SOCKET" "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/docker.sock" "${HOME:-/nonexistent}/.docker/run/docker.sock"; do
    case $tried in *" $path "*) continue ;; esac
    tried="$tried$path "
    if try_engine "unix://$path" "unix://$path" docker -H "unix://$path"; then return 0; fi
  done
  return 1
}

permission_denied() {
  fail "permission denied: user $(user_name) may not use the Docker engine at $1" \
    "either join the docker group (as root: usermod -aG docker $(user_name); then log in again)," \
    "or use a rootless engine, or set DOCKER_HOST to an engine you may use"
}

# Ends with the reason no engine can be used; what could start one is in start.sh.
no_engine() {
  [ -z "$DENIED" ] || permission_denied "$DENIED"
  fail "no Docker engine answers" "${SEEN[@]}" "$@"
}
