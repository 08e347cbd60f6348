# shellcheck shell=bash
# shellcheck disable=SC2034 # the parts share their variables
# The recipe of the sandbox image. Its text is hashed: any change here makes a new image.

# What the image is made of; apt finds what these depend on.
PACKAGES=(python3 python3-pip-whl bash dash busybox libc-bin tar tzdata ca-certificates)
# Dependencies of maintainer scripts only, which are not run.
UNWANTED=" dpkg debconf openssl perl-base sensible-utils "
# Tools for working on files and processes; none that sets up mounts, networks or users.
APPLETS="[ [[ ar arch base64 basename bc bunzip2 bzcat bzip2 cal cat chgrp chmod chown clear cmp cp cpio cut
  date dc dd df diff dirname dos2unix du echo egrep env expand expr factor false fgrep find fold free getopt grep groups
  gunzip gzip head hexdump hostname id kill killall less ln logname ls lzcat lzma md5sum mkdir mkfifo mktemp more mv nc
  nl nproc nslookup od paste patch pidof printf ps pwd readlink realpath rev rm rmdir sed seq setsid sha1sum sha256sum
  sha512sum shred shuf sleep sort stat strings stty sync tac tail tee test time timeout top touch tr true truncate
  ts tty uname unexpand uniq unix2dos unlink unlzma unxz unzip uptime usleep vi watch wc wget which who whoami xargs xxd
  xz xzcat yes zcat"
# Left out to keep the image small: it is read by programs, not by people.
LEFT_OUT=(usr/share/doc usr/share/doc-base usr/share/man usr/share/info usr/share/locale usr/share/lintian usr/share/bug
  usr/share/menu usr/share/applications usr/share/pixmaps usr/share/initramfs-tools usr/share/bash-completion
  usr/share/zoneinfo/right usr/share/zoneinfo/posix usr/lib/valgrind usr/share/common-licenses etc/update-motd.d
  usr/share/perl5 usr/share/debconf var/cache var/lib/apt var/lib/dpkg var/log)
IMAGE_CHANGES=(
  --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  --change 'ENV LANG=C.UTF-8'
  --change 'ENV PYTHONDONTWRITEBYTECODE=1'
  --change 'USER 65532:65532'
  --change 'WORKDIR /workspace'
  --change 'CMD ["python3"]'
)
# Run in the new image before it gets its name.
SELF_TEST='
import asyncio, bz2, ctypes, ctypes.util, curses, hashlib, json, lzma, multiprocessing, os, readline, sqlite3, ssl, subprocess, sys, uuid, zlib, zoneinfo
assert os.getuid() == os.getgid() == 65532, "not user 65532"
assert os.getcwd() == "/workspace" == os.path.expanduser("~"), "not in /workspace"
assert ssl.create_default_context().get_ca_certs(), "no CA certificates"
assert zoneinfo.ZoneInfo("Europe/Paris"), "no time zones"
import pip._internal
assert os.path.exists(json.__cached__) and os.path.exists(pip._internal.__cached__), "the library is not compiled"
for command in ["python3", "-m", "pip"], ["pip"], ["pip3"]:
    subprocess.run([*command, "--version"], check=True, stdout=subprocess.DEVNULL)
subprocess.run(["bash", "-ec", "ps; timeout 5 true; tar --version; sh -c true; python -c 1; ls -l | awk 1"], check=True, stdout=subprocess.DEVNULL)
known = subprocess.run(["busybox", "--list"], check=True, capture_output=True, text=True).stdout.split() if os.path.exists("/bin/busybox") else None
dead = [f.name for f in os.scandir("/usr/bin") if known and f.is_symlink() and os.readlink(f) == "busybox" and f.name not in known]
assert not dead, f"tools that are only links: {dead}"
'

# apt with nothing installed in its eyes, so that it names every package that is needed.
bare_apt() {
  local work=$1
  shift
  LC_ALL=C apt-get -q -y -o Dir::State::status="$work/status" -o Dir::Cache="$work/apt" -o Dir::Cache::archives="$work/debs/" \
    ${PRIVATE_LISTS:+-o "Dir::State::lists=$PRIVATE_LISTS"} -o Debug::NoLocking=1 -o APT::Install-Recommends=false \
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=2 -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 \
    "$@" </dev/null >>"$work/log" 2>&1
}

# Lists of its own, so that the system's are left alone and root is not needed.
private_lists() {
  PRIVATE_LISTS=$1/lists
  mkdir -p "$PRIVATE_LISTS/partial"
  say "fetching package lists for the image"
  bare_apt "$1" update
}

fetch_packages() {
  local work=$1
  : >"$work/status"
  mkdir -p "$work/apt" "$work/debs/partial"
  PRIVATE_LISTS=
  if [ "$REBUILD" = 1 ]; then private_lists "$work" || return 1; fi
  if bare_apt "$work" --download-only install "${PACKAGES[@]}"; then return 0; fi
  # Lists that are missing, or so old that they name files that are gone.
  [ -z "$PRIVATE_LISTS" ] && private_lists "$work" && bare_apt "$work" --download-only install "${PACKAGES[@]}"
}

unpack_packages() {
  local work=$1 root=$2 deb name
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
  for deb in "$work"/debs/*.deb; do
    name=${deb##*/}
    case $UNWANTED in *" ${name%%_*} "*) continue ;; esac
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner || return 1
  done
}

# With debootstrap the maintainer scripts are run: larger and slower, but another way to the same tools.
bootstrap_tree() {
  local work=$1 root=$2 source include=${PACKAGES[*]}
  include=${include// /,}
  # shellcheck disable=SC1091,SC2016 # the system's own file, and apt's own names
  source=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | sort -u |
    awk -v want="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '!found && ($2 == want || want == "") { found = $0 } END { print found }')
  [ -n "$source" ] || return 1
  APT_LOG=$work/log
  if ! command -v debootstrap >/dev/null; then install_packages debootstrap; fi
  bounded 600 debootstrap --variant=minbase --include="$include" "${source#* }" "$root" "${source% *}" >>"$work/log" 2>&1
}

# What maintainer scripts would have made, and the sandbox's user.
finish_tree() {
  local root=$1 name
  for name in "${LEFT_OUT[@]}"; do rm -rf "${root:?}/$name"; done
  rm -rf "$root"/usr/lib/*/gconv "$root"/usr/lib/python3*/{test,ensurepip,idlelib,lib2to3/tests}
  for name in dev proc sys run tmp var/tmp var/cache var/lib var/log root home workspace usr/local/bin; do mkdir -p "$root/$name"; done
  for name in $APPLETS; do
    if [ ! -e "$root/usr/bin/$name" ] && [ ! -L "$root/usr/bin/$name" ]; then ln -s busybox "$root/usr/bin/$name"; fi
  done
  [ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
  [ -L "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
  ln -sf python3 "$root/usr/bin/python"
  mkdir -p "$root/etc/ssl/certs" "$root/usr/lib/ssl"
  if [ -d "$root/usr/share/ca-certificates" ]; then
    find "$root/usr/share/ca-certificates" -name '*.crt' | LC_ALL=C sort | xargs cat >"$root/etc/ssl/certs/ca-certificates.crt"
    rm -rf "$root/usr/share/ca-certificates"
  fi
  ln -sfn /etc/ssl/certs "$root/usr/lib/ssl/certs"
  ln -sfn /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
  rm -f "$root"/etc/{hostname,resolv.conf,mtab}
  printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' 'sandbox:x:65532:65532:sandbox:/workspace:/bin/bash' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' 'sandbox:x:65532:' >"$root/etc/group"
  printf '%s\n' '127.0.0.1 localhost' '::1 localhost ip6-localhost ip6-loopback' >"$root/etc/hosts"
  printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' >"$root/etc/nsswitch.conf"
  rm -f "$root"/etc/{shadow,gshadow,subuid,subgid}* "$root"/etc/{passwd,group}-
}

# Only the sandbox's own folder is its user's; nothing gains rights by being run.
set_modes() {
  local root=$1
  chmod -R u+rwX,go+rX,go-w,a-s "$root"
  chmod 1777 "$root/tmp" "$root/var/tmp"
  chmod 700 "$root/root"
}

# tree_python ROOT ARGUMENT...: the tree's own Python, before the tree is anyone's root.
tree_python() {
  local root=$1 loader
  shift
  loader=$(find "$root/usr/lib" "$root/usr/lib64" -maxdepth 2 -name 'ld-linux*.so.*' -type f -print -quit)
  [ -n "$loader" ] || return 1
  env -i PATH="$PATH" PYTHONHOME="$root/usr" "$loader" --library-path "$(dirname "$loader")" "$root"/usr/bin/python3 "$@"
}

# pip as Python's own images have it: Debian's brings setuptools along, and may not install anything.
install_pip() {
  local root=$1 wheels=("$1"/usr/share/python-wheels/pip-*.whl)
  [ -f "${wheels[0]}" ] || return 1
  tree_python "$root" -m zipfile -e "${wheels[0]}" "$root/usr/lib/python3/dist-packages" || return 1
  printf '%s\n' '#!/usr/bin/python3' 'import sys' 'from pip._internal.cli.main import main' 'sys.exit(main())' >"$root/usr/bin/pip"
  chmod 755 "$root/usr/bin/pip"
  ln -sf pip "$root/usr/bin/pip3"
  rm -rf "$root"/usr/share/python-wheels "$root"/usr/lib/python3*/EXTERNALLY-MANAGED
}

# Without compiled files each start of Python would compile what it imports, as the image is read-only.
compile_library() {
  local root=$1
  tree_python "$root" -m compileall -q -j 0 --invalidation-mode unchecked-hash -s "$root" -p / "$root"/usr/lib/python3*
}

# The library cache is what ctypes.util.find_library looks into; making it changes the root folder.
cache_libraries() {
  local root=$1
  if is_root; then "$root/usr/sbin/ldconfig" -r "$root"; else unshare -r "$root/usr/sbin/ldconfig" -r "$root"; fi
}

# build_tree WORK: the tarball of the image's root in WORK/image.tar.
build_tree() {
  local work=$1 root=$1/root
  if [ "${GLOVEBOX_ENGINE_BUILD:-}" = debootstrap ]; then
    bootstrap_tree "$work" "$root" || return 1
  elif ! fetch_packages "$work" || ! unpack_packages "$work" "$root"; then
    is_root || return 1
    warn "the packages could not be fetched and unpacked one by one; trying debootstrap"
    rm -rf "$root"
    bootstrap_tree "$work" "$root" || return 1
  fi
  finish_tree "$root"
  install_pip "$root" >>"$work/log" 2>&1 || return 1
  set_modes "$root"
  compile_library "$root" >>"$work/log" 2>&1 || return 1
  cache_libraries "$root" >>"$work/log" 2>&1 || warn "no library cache in the image: ctypes.util.find_library finds nothing in it"
  tar -c --sort=name --numeric-owner --owner=0 --group=0 --exclude=./workspace --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' -C "$root" -f "$work/image.tar" . &&
    tar -r --numeric-owner --owner=65532 --group=65532 -C "$root" -f "$work/image.tar" ./workspace
}
