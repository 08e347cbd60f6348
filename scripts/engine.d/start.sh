# shellcheck shell=bash
# shellcheck disable=SC2034 # the parts share their variables
# Starting an engine: installing it where that is possible, and waiting until it answers.

OWN_NETWORK=()
NETWORK_OFF=(--iptables=false --ip6tables=false --bridge=none)

on_debian() {
  command -v apt-get >/dev/null && [ -r /etc/os-release ] || return 1
  # shellcheck disable=SC1091 # the system's own file
  case " $(. /etc/os-release && echo "${ID:-} ${ID_LIKE:-}") " in
    *" debian "* | *" ubuntu "*) return 0 ;;
  esac
  return 1
}

system_name() {
  # shellcheck disable=SC1091 # the system's own file
  if [ -r /etc/os-release ]; then (. /etc/os-release && echo "${PRETTY_NAME:-${ID:-this system}}"); else uname -s; fi
}

remedy_cli() {
  if on_debian; then
    echo "as root, run scripts/engine; or install the package docker.io (on newer releases also docker-cli)"
  else
    echo "install Docker for $(system_name), so that the docker command is on the PATH"
  fi
}

has_package() {
  case $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) in
    *"Candidate: (none)"*) return 1 ;;
    *"Candidate: "*) return 0 ;;
  esac
  return 1
}

LISTS_FRESH=0
APT_LOG=

# An apt-get whose daemons, if its packages start any, do not keep the lock.
apt_get() {
  if [ -z "$APT_LOG" ]; then APT_LOG=$(mktemp) && SCRATCH+=("$APT_LOG"); fi
  DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 \
    -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 "$@" </dev/null >>"$APT_LOG" 2>&1 9>&-
}

refresh_lists() {
  [ "$LISTS_FRESH" = 0 ] || return 0
  LISTS_FRESH=1
  say "refreshing the package lists"
  apt_get update || warn "apt-get update failed; going on with the lists there are"
}

# install_packages NAME...: a second try after new lists, as old ones name files that are gone.
install_packages() {
  local name begun=$SECONDS
  for name in "$@"; do has_package "$name" || refresh_lists; done
  say "installing $* from the system's packages"
  if ! apt_get install --no-install-recommends "$@"; then
    refresh_lists
    apt_get install --no-install-recommends "$@" ||
      fail "the packages could not be installed: $*" "$(log_tail "$APT_LOG")" "see that apt-get install $* works, then run this again"
  fi
  say "installed $* ($((SECONDS - begun)) s)"
  hash -r
}

have_runsc() {
  [ -x "$(command -v runsc)" ]
}

# gVisor is a second wall, and an engine without it is still an engine: one short try, and a warning.
install_runsc() {
  local begun=$SECONDS quick=(-o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15)
  if have_runsc || ! on_debian; then return 0; fi
  has_package docker.io || refresh_lists
  if has_package runsc; then
    say "installing runsc from the system's packages"
    if ! apt_get "${quick[@]}" install --no-install-recommends runsc && grep -q ' 404 ' "$APT_LOG"; then
      refresh_lists
      apt_get "${quick[@]}" install --no-install-recommends runsc || true
    fi
    hash -r
  fi
  if have_runsc; then say "installed runsc ($((SECONDS - begun)) s)"; else warn "gVisor's runsc could not be had from the system's packages; the engine goes without it"; fi
}

# What the engine is configured with; a configuration that the machine's owner wrote is used as it is.
# Limits hold under runsc only without --ignore-cgroups; sandboxes have no network, so neither has runsc,
# whose other ways of networking fail on newer kernels; and its platform is the default one, never kvm,
# which hangs in a virtual machine.
write_configuration() {
  local file=$1 runtimes=
  if have_runsc; then runtimes="\"runsc\": { \"path\": $(json_string "$(command -v runsc)"), \"runtimeArgs\": [\"--network=none\"] }"; fi
  printf '{ "runtimes": { %s } }\n' "$runtimes" >"$file.new"
  mv -f "$file.new" "$file"
}

install_cli() {
  if ! is_root || ! on_debian; then fail "the docker command is missing" "$(remedy_cli)"; fi
  # Newer releases have the command in a package of its own, which docker.io only recommends.
  has_package docker.io || refresh_lists
  if has_package docker-cli; then install_packages docker-cli; else install_packages docker.io; fi
  have_cli || fail "the docker command is still missing after its package was installed" "$(remedy_cli)"
}

have_dockerd() {
  # The shell also names files that cannot be run.
  [ -x "$(command -v dockerd)" ]
}

require_dockerd() {
  local remedy="start an engine, or set DOCKER_HOST to one that runs"
  [ "$(uname -s)" = Linux ] || no_engine "start Docker on this machine, or set DOCKER_HOST to an engine that runs"
  is_root || no_engine "starting one needs root, and this is user $(user_name):" "run scripts/engine as root once, or $remedy"
  have_dockerd && return
  on_debian || no_engine "none is installed, and installing one is known here for Debian and its derivatives with apt only (this is $(system_name)):" "install Docker by hand, or $remedy"
  install_packages docker.io
  have_dockerd || fail "the package docker.io was installed, but there is no dockerd" "install an engine by hand, or $remedy"
}

# wait_answer PID: 0 when the engine answers, 1 when the process ended first, 2 at the deadline.
wait_answer() {
  local pid=$1 deadline=$((SECONDS + START_SECONDS + 1))
  while [ "$SECONDS" -lt "$deadline" ]; do
    if [ -S "$SOCKET" ] && try_engine "unix://$SOCKET" "unix://$SOCKET" docker -H "unix://$SOCKET"; then return 0; fi
    [ -z "$pid" ] || start_time "$pid" >/dev/null || return 1
    sleep 0.1
  done
  return 2
}

# The engine outlives this script: it gets a session of its own and none of this script's files.
launch() {
  (
    local fd
    for fd in /dev/fd/*; do
      fd=${fd##*/}
      if [ "$fd" -gt 2 ]; then eval "exec $fd>&-" 2>/dev/null || true; fi
    done
    cd / && umask 022
    # Of the caller's environment only what an engine has a use for: it may hold secrets.
    exec env -i PATH="$PATH" HOME="${HOME:-/root}" \
      ${HTTP_PROXY:+HTTP_PROXY="$HTTP_PROXY"} ${HTTPS_PROXY:+HTTPS_PROXY="$HTTPS_PROXY"} ${NO_PROXY:+NO_PROXY="$NO_PROXY"} \
      ${DOCKER_RAMDISK:+DOCKER_RAMDISK="$DOCKER_RAMDISK"} setsid ${OWN_NETWORK[@]+"${OWN_NETWORK[@]}"} dockerd "$@"
  ) </dev/null >"$LOG" 2>&1 &
}

# What else to start with, going by what the log says about the failed start.
next_try() {
  local with
  if grep -qiE 'graphdriver|storage.driver|overlay' "$LOG" && [ "$VFS" = 0 ]; then
    VFS=1 EXTRA+=(--storage-driver=vfs)
    with="--storage-driver=vfs"
  elif [ "$NETWORK" = 1 ]; then
    NETWORK=0 EXTRA+=("${NETWORK_OFF[@]}")
    with="${NETWORK_OFF[*]} (containers then have no network, and the sandbox wants none)"
  else
    return 1
  fi
  [ "$QUIET" = 1 ] || log_tail "$LOG" >&2
  say "dockerd ended at once; trying again with $with"
}

start_service() {
  say "starting docker.service"
  systemctl start docker.service 9>&- || fail "docker.service did not start" "see: journalctl -u docker.service"
  wait_answer "" || fail "docker.service was started, but unix://$SOCKET does not answer within $START_SECONDS s" "see: journalctl -u docker.service"
  STARTED=true
  say "engine $SERVER_VERSION answers at $ENGINE_HOST; it is the system's service: systemctl stop docker ends it"
}

# Someone else's engine may be on its way up, or hang: it is waited for and never replaced.
respect_others() {
  local pid
  if pid=$(live_engine); then
    say "dockerd (process $pid) is running but does not answer yet; waiting for it"
    wait_answer "$pid" && return 0
    start_time "$pid" >/dev/null && fail "dockerd (process $pid) is running, but unix://$SOCKET does not answer within $START_SECONDS s" "see what it is doing, or stop it"
  fi
  if [ -S "$SOCKET" ] && [ "$SOCKET_PROBE" != refused ]; then
    fail "something accepts connections at unix://$SOCKET, but it is no engine that answers" "$SOCKET_PROBE" "stop it, or set DOCKER_HOST to an engine that runs"
  fi
  return 1
}

start_engine() {
  local pid args=() begun outcome config
  require_dockerd
  if [ -z "$STATE" ] && [ -d /run/systemd/system ] && systemctl cat docker.service >/dev/null 2>&1; then
    start_service
    return
  fi
  if respect_others; then return; fi
  clear_stale
  VFS=0 NETWORK=1 EXTRA=()
  config=$(dirname "$RECORD")/daemon.json
  mkdir -p "$(dirname "$RECORD")"
  if [ -z "$STATE" ] && [ -e /etc/docker/daemon.json ]; then
    say "/etc/docker/daemon.json is used as it is: whether the engine knows gVisor's runsc is for it to say"
  else
    install_runsc
    write_configuration "$config"
    args=(--config-file "$config")
  fi
  if [ -n "$STATE" ]; then
    # An engine beside another one keeps out of its configuration and its containerd's names, and has
    # a network of its own: without a bridge dockerd removes docker0, even one that another engine uses.
    NETWORK=0 EXTRA=("${NETWORK_OFF[@]}") OWN_NETWORK=(unshare --net)
    args+=(--host "unix://$SOCKET" --pidfile "$PIDFILE" --exec-root "$EXEC_ROOT" --data-root "$STATE/data"
      --containerd-namespace "glovebox-$(printf %s "$STATE" | cksum | tr ' ' -)" --containerd-plugins-namespace "glovebox-plugins-$(printf %s "$STATE" | cksum | tr ' ' -)")
  fi
  while true; do
    begun=$SECONDS outcome=0
    [ ! -s "$LOG" ] || mv -f "$LOG" "$LOG.1"
    launch ${args[@]+"${args[@]}"} ${EXTRA[@]+"${EXTRA[@]}"}
    pid=$!
    record_process dockerd "$pid"
    wait_answer "$pid" || outcome=$?
    [ "$outcome" != 0 ] || break
    if [ "$outcome" = 2 ]; then
      end_process "$pid" 20 || true
      fail "dockerd was started but did not answer within $START_SECONDS s, so it was stopped" "$(log_tail "$LOG")"
    fi
    next_try || fail "dockerd does not start on this machine" "$(log_tail "$LOG")" \
      "in a container or a small VM it may lack privileges, cgroups or kernel modules: give it those, or set DOCKER_HOST to an engine elsewhere"
  done
  say "started dockerd (process $pid, log $LOG)"
  if pid=$(live_containerd); then record_process containerd "$pid"; fi
  STARTED=true
  say "engine $SERVER_VERSION answers at $ENGINE_HOST ($((SECONDS - begun)) s)"
}
