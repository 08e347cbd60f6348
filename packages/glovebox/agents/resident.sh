# Process 1 of a sandbox whose image has no Python; README.md has the protocol. For dash, bash and busybox ash alike.
# All names have a prefix: one that the environment has too would be given on to every program.

# Control is 3, the block's stderr 4; what the shell itself says goes nowhere, for the host would take it for output.
exec 3<&0 4>&2 </dev/null 2>/dev/null
umask 022
# Only signals with a handler reach process 1, and bash has some that end it; ignoring them would pass on to programs.
trap : HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM XCPU XFSZ VTALRM SYS
[ "$PWD" = "$1" ] || cd "$1" || exit 1
shift

# Exactly $1 bytes: busybox's head takes more from a pipe than it gives, and not every dd can count bytes.
# It ends the shell that calls it, which saves a fork.
gb_take() {
  case $gb_exact in
    head) exec head -c "$1" ;;
    blocks) exec dd bs=65536 count="$1" iflag=fullblock,count_bytes ;;
    bytes) exec dd bs=1 count="$1" ;;
  esac
}
for gb_exact in head blocks bytes; do
  [ "$(printf 'abcdef\n' | { (gb_take 2) && read -r gb_line && printf '/%s' "$gb_line"; })" = ab/cdef ] && break
done

# A program can make its output non-blocking for all who share the opening: it gets one of its own.
gb_reopen=
(: >/proc/self/fd/1) && (: >/proc/self/fd/4) && gb_reopen=1
gb_setsid=$(command -v setsid)
gb_df=$(command -v df)
tar --format=gnu --hard-dereference --null --no-recursion -cf /dev/null -T /dev/null && gb_tar=gnu || gb_tar=
gb_memory=
gb_pids=
for gb_line in memory.events memory/memory.oom_control; do
  [ -r "/sys/fs/cgroup/$gb_line" ] && gb_memory=/sys/fs/cgroup/$gb_line
done
for gb_line in pids.events pids/pids.events; do
  [ -r "/sys/fs/cgroup/$gb_line" ] && gb_pids=/sys/fs/cgroup/$gb_line
done
gb_bad=
gb_newline='
'

# The number behind the word $2 in the file $1, to gb_number.
gb_count() {
  gb_number=0
  [ "$1" ] || return 0
  while read -r gb_word gb_value; do
    [ "$gb_word" = "$2" ] && gb_number=$gb_value
  done <"$1"
}

# Whether the fourth column of df, of blocks or of inodes, is 0.
gb_full() {
  gb_line=$(df "$1" .) || return 1
  set -f
  set -- ${gb_line##*"$gb_newline"}
  set +f
  [ "$4" = 0 ]
}

# What was hit since the counts were $1 and $2, by a block that ended with $3.
gb_limits() {
  gb_hit=
  gb_count "$gb_memory" oom_kill
  [ "$gb_number" -gt "$1" ] && gb_hit=,memory
  gb_count "$gb_pids" max
  [ "$gb_number" -gt "$2" ] && gb_hit=$gb_hit,pids
  # Two programs: a block that went well does not wait for them.
  [ "$3" != 0 ] && [ "$gb_df" ] && { gb_full -P || gb_full -Pi; } && gb_hit=$gb_hit,workspace
  gb_hit=${gb_hit#,}
}

gb_end() {
  printf '%s %s %s\n' "$1" "$2" "${3:--}"
  printf '%s\n' "$1" >&4
}

# Makes the folders on the way to $1, unless $2 says no. Nothing else runs now, so a way without links stays one.
gb_way() {
  case /$1/ in *//* | */./* | */../*) return 1 ;; esac
  gb_folder=.
  gb_rest=$1
  while [ "$gb_rest" != "${gb_rest#*/}" ]; do
    gb_folder=$gb_folder/${gb_rest%%/*}
    gb_rest=${gb_rest#*/}
    [ -L "$gb_folder" ] && return 1
    [ -d "$gb_folder" ] || [ "$2" = no ] || mkdir "$gb_folder" || return 1
  done
}

gb_clear() {
  [ ! -e "./$1" ] && [ ! -L "./$1" ] || rm -rf "./$1"
}

gb_put() {
  if gb_way "$3" && gb_clear "$3"; then
    # The second cat takes what a full disk leaves over, else the next line would begin in the middle of the file.
    gb_take "$2" <&3 | {
      set -C
      cat >"./$3" || { cat >/dev/null; exit 1; }
    } && case $1 in 644) ;; *) chmod "$1" "./$3" ;; esac && return
    rm -f "./$3"
  else
    (gb_take "$2" <&3 >/dev/null)
  fi
  gb_bad="$3: this file could not be put into the workspace."
}

gb_del() {
  gb_way "$1" no && gb_clear "$1" || gb_bad="$1: this file could not be removed from the workspace."
}

gb_run() {
  gb_marker=$1
  gb_left=$2
  set --
  while [ "$gb_left" -gt 0 ]; do
    IFS= read -r gb_line <&3 || exit 0
    set -- "$@" "$gb_line"
    gb_left=$((gb_left - 1))
  done
  if [ "$gb_bad" ]; then
    printf '%s\n' "$gb_bad" >&4
    gb_bad=
    gb_end "$gb_marker" 126
    return
  fi
  gb_count "$gb_memory" oom_kill
  gb_killed=$gb_number
  gb_count "$gb_pids" max
  gb_refused=$gb_number
  {
    while IFS= read -r gb_line && [ "$gb_line" != kill ]; do :; done
    # Again and again, until the sweep ends it too: the block may not have begun.
    while :; do kill -9 -1; done
  } <&3 >/dev/null 3<&- 4>&- &
  # A process between, so that a program which kills all it can ends its own block: the watcher is gone then.
  # In the foreground, for SIGINT is ignored in the background.
  (
    exec 3<&-
    [ "$gb_reopen" ] && exec >/proc/self/fd/1 4>/proc/self/fd/4
    # Redirected inside, else dash says "Killed" on the block's stderr.
    (exec 2>&4 4>&- && exec $gb_setsid "$@")
    exit $?
  )
  gb_status=$?
  gb_sweep
  gb_limits "$gb_killed" "$gb_refused" "$gb_status"
  gb_end "$gb_marker" "$gb_status" "$gb_hit"
}

# Ends when kill finds nobody, zombies included. They are collected without a new process, which pids may forbid: jobs
# does it, but in busybox only after a SIGCHLD that no other wait has answered.
gb_sweep() {
  while kill -9 -1; do
    wait
    kill -CHLD $$
    jobs >/dev/null
  done
}

gb_get() {
  if [ "$gb_tar" ]; then
    find . \( -type f -o -type d \) -print0 |
      tar --format=gnu --hard-dereference --null --no-recursion -cf - -T - 2>&4
  else
    tar -cf - . 2>&4
  fi
  gb_end "$1" $?
}

gb_found=
for gb_line; do
  gb_path=$(command -v "$gb_line")
  case $gb_path in *[[:space:]]*) gb_path= ;; /*) ;; *) gb_path= ;; esac
  gb_found="$gb_found $gb_line=$gb_path"
done
printf 'ready 1%s\n' "$gb_found"

while IFS= read -r gb_line <&3; do
  gb_rest=${gb_line#* }
  gb_more=${gb_rest#* }
  case $gb_line in
    'put '*) gb_put "${gb_rest%% *}" "${gb_more%% *}" "${gb_more#* }" ;;
    'del '*) gb_del "$gb_rest" ;;
    'run '*) gb_run "${gb_rest%% *}" "$gb_more" ;;
    'get '*) gb_get "$gb_rest" ;;
  esac
done
exit 0
