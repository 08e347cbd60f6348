# shellcheck shell=bash
# shellcheck disable=SC2034,SC2153 # the parts share their variables
# The sandbox image: looking for it, pulling it, and importing what the recipe built.

IMAGE_ID=
IMAGE_RECIPE=
IMAGE_WHY=

# The texts that the default image is made by.
RECIPES=("$ENGINE_LIB/recipe.sh")

recipe_hash() {
  cat "${RECIPES[@]}" | if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-16
}

same_architecture() {
  case $(dpkg --print-architecture),$SERVER_ARCH in
    armhf,arm | armel,arm | i386,386 | ppc64el,ppc64le) return 0 ;;
    *) [ "$(dpkg --print-architecture)" = "$SERVER_ARCH" ] ;;
  esac
}

can_build() {
  on_debian && command -v dpkg-deb >/dev/null && same_architecture
}

# find_image NAME: its id and the recipe it was built by, if the engine has it.
find_image() {
  local out status=0
  IMAGE_ID='' IMAGE_RECIPE=''
  out=$(bounded 60 "${DOCKER[@]}" image inspect --format \
    'image={{.Id}} {{with .Config}}{{with .Labels}}{{index . "org.glovebox.recipe"}}{{end}}{{end}}' "$1" 2>&1 </dev/null) || status=$?
  case $status,$out in
    0,*image=?*)
      out=${out##*image=}
      IMAGE_ID=${out%% *} IMAGE_RECIPE=${out#* }
      ;;
    *[Nn]o\ such\ image* | *not\ found*) return 1 ;;
    *) fail "the engine at $ENGINE_HOST could not be asked for the image $1" "$out" ;;
  esac
}

# Whether the wanted image can be used as it is; IMAGE_WHY says why not.
image_ready() {
  if ! find_image "$IMAGE"; then
    IMAGE_WHY="it has no image $IMAGE"
    return 1
  fi
  # An image of that name without the label is someone's own choice.
  if [ "$IMAGE" = "$DEFAULT_IMAGE" ] && [ -n "$IMAGE_RECIPE" ] && [ "$IMAGE_RECIPE" != "$(recipe_hash)" ]; then
    IMAGE_WHY="its image $IMAGE is of an older recipe"
    if can_build; then return 1; fi
    warn "$IMAGE_WHY, and it cannot be built here: using it as it is"
  fi
}

# A short run, walled as in use, that shows that the image does what the sandbox needs.
run_test() {
  local image=$1 code=$2
  bounded 120 "${DOCKER[@]}" run --rm --network none --read-only --cap-drop ALL --security-opt no-new-privileges \
    --entrypoint python3 "$image" -c "$code" 2>&1 </dev/null
}

pull_image() {
  local out
  say "pulling $IMAGE"
  if out=$(bounded "$PULL_SECONDS" "${DOCKER[@]}" pull -q "$IMAGE" 2>&1 </dev/null) && find_image "$IMAGE"; then
    say "pulled $IMAGE"
    out=$(run_test "$IMAGE" 'import ctypes, json, sqlite3, ssl, subprocess; subprocess.run(["bash", "-c", "true"], check=True)') ||
      fail "the image $IMAGE lacks what the sandbox needs: Python 3 with its whole standard library, and bash" \
        "$(printf '%s\n' "$out" | tail -n 3)" "name another image, or leave --image away for $DEFAULT_IMAGE"
    return
  fi
  fail "the image $IMAGE is not there and could not be pulled" "$(printf '%s\n' "$out" | tail -n 3)" \
    "load or tag it yourself, or run scripts/engine without --image and GLOVEBOX_SANDBOX_IMAGE to use $DEFAULT_IMAGE, which is built here"
}

# The folder for built images; one that cannot be written is no reason to fail, only to build again next time.
cache_folder() {
  local base=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}} folder
  folder=${GLOVEBOX_CACHE_DIR:-${base:+$base/glovebox}}
  folder=${folder:+$folder/images}
  if [ -n "$folder" ] && mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ]; then
    CACHE=$(cd "$folder" && pwd)
    return
  fi
  CACHE=$(mktemp -d)
  SCRATCH+=("$CACHE")
  say "${folder:-the cache} cannot be written, so the built image is not kept"
}

# make_tarball FILE: builds, and gives the file its name only when it is whole and on the disk.
make_tarball() {
  local file=$1 work status begun=$SECONDS
  rm -rf "$CACHE"/build.*
  work=$(mktemp -d "$CACHE/build.XXXXXX")
  SCRATCH+=("$work")
  say "building $DEFAULT_IMAGE from the system's packages"
  # In a subshell of its own, as a condition around it would make it go on after an error.
  set +e
  (set -e && build_tree "$work")
  status=$?
  set -e
  [ "$status" = 0 ] || fail "the sandbox image could not be built" "$(log_tail "$work/log")" "see that apt-get can fetch packages, or name an image with --image"
  sync "$work/image.tar"
  mv -f "$work/image.tar" "$file"
  sync "$CACHE"
  # Images of recipes that were not used for a month are not worth their place.
  find "$CACHE" -maxdepth 1 -name '*.tar' ! -path "$file" -mtime +30 -delete
  rm -rf "$work"
  say "built its files ($((SECONDS - begun)) s)"
}

# import_tarball FILE: NEW_ID is the image's id if the engine takes it and it works, else TROUBLE says why not.
import_tarball() {
  if ! NEW_ID=$(bounded 300 "${DOCKER[@]}" import "${IMAGE_CHANGES[@]}" --change "LABEL org.glovebox.recipe=$(recipe_hash)" - <"$1" 2>&1); then
    TROUBLE=$NEW_ID
    return 1
  fi
  NEW_ID=$(printf '%s\n' "$NEW_ID" | tail -n 1)
  if ! TROUBLE=$(run_test "$NEW_ID" "$SELF_TEST"); then
    "${DOCKER[@]}" rmi "$NEW_ID" >/dev/null 2>&1 || true
    return 1
  fi
}

# The image gets its name only after it was seen to work.
build_image() {
  local file old=$IMAGE_ID begun=$SECONDS
  cache_folder
  # shellcheck disable=SC1091 # the system's own file
  file=$CACHE/$(recipe_hash)-$SERVER_ARCH-$(. /etc/os-release && echo "${VERSION_CODENAME:-${VERSION_ID:-any}}").tar
  if command -v flock >/dev/null; then
    exec 8>"$CACHE/lock"
    wait_for_lock 8 "image cache"
  fi
  if [ "$REBUILD" = 1 ]; then rm -f "$file"; fi
  if [ -f "$file" ] && import_tarball "$file"; then
    say "imported the files built earlier"
  else
    make_tarball "$file"
    if ! import_tarball "$file"; then
      rm -f "$file"
      fail "the built image does not work on the engine at $ENGINE_HOST" "$(printf '%s\n' "$TROUBLE" | tail -n 5)"
    fi
  fi
  exec 8>&-
  "${DOCKER[@]}" tag "$NEW_ID" "$DEFAULT_IMAGE"
  # Without force: an image that something still uses, or that has another name, stays.
  if [ -n "$old" ]; then "${DOCKER[@]}" rmi "$old" >/dev/null 2>&1 || true; fi
  find_image "$DEFAULT_IMAGE"
  BUILT=true
  say "made $DEFAULT_IMAGE ($((SECONDS - begun)) s)"
}

ensure_image() {
  local remedy="name an image with Python 3 and bash that is there or can be pulled: scripts/engine --image NAME"
  if [ "$REBUILD" = 1 ]; then find_image "$IMAGE" || true; elif image_ready; then return; fi
  if [ "$IMAGE" != "$DEFAULT_IMAGE" ]; then
    pull_image
    return
  fi
  on_debian || fail "$DEFAULT_IMAGE is built from Debian's packages, and $(system_name) has no apt" "$remedy"
  can_build || fail "$DEFAULT_IMAGE is built for this machine's architecture, and the engine at $ENGINE_HOST is $SERVER_ARCH" "$remedy"
  build_image
}
