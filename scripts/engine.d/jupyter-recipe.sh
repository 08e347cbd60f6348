# shellcheck shell=bash
# shellcheck disable=SC2034 # the parts share their variables
# The recipe of the image for Jupyter kernels: that of the sandbox, and what data is worked on with. Both texts are hashed.

PACKAGES+=(python3-ipykernel python3-numpy python3-pandas python3-matplotlib fonts-dejavu-core)
# A compiler, a debugger, Tk and X, and what only they need: scipy's own compiler asks for them.
UNWANTED+="binutils binutils-common binutils-x86-64-linux-gnu binutils-aarch64-linux-gnu blt cpp cpp-12 fonts-lyx g++ g++-12 gcc gcc-12 gdb
  libasan8 libbabeltrace1 libbinutils libboost-dev libboost-regex1.74.0 libboost1.74-dev libc-dev-bin libc6-dev libcc1-0
  libcrypt-dev libctf-nobfd0 libctf0 libcurl3-gnutls libdebuginfod-common libdebuginfod1 libdw1 libelf1 libexpat1-dev
  libgcc-12-dev libgprofng0 libipt2 libisl23 libitm1 libjs-jquery libjs-jquery-ui libjs-sphinxdoc libjs-underscore
  libldap-2.5-0 liblsan0 libmpc3 libmpfr6 libnghttp2-14 libnsl-dev libopenblas-dev libopenblas-pthread-dev libpython3-all-dev
  libpython3-dev libpython3.11 libpython3.11-dev libpsl5 librtmp1 libsasl2-2 libsasl2-modules-db libsource-highlight-common
  libsource-highlight4v5 libssh2-1 libstdc++-12-dev libtcl8.6 libtirpc-dev libtk8.6 libtsan2 libubsan1 libxft2 libxsimd-dev
  libxss1 linux-libc-dev python3-all python3-all-dev python3-coverage python3-dev python3-pil.imagetk python3-pythran
  python3-sympy python3-tk python3.11-dev rpcsvc-proto sysvinit-utils tk8.6-blt2.5 ucf unicode-data x11-common zlib1g-dev "
UNWANTED=${UNWANTED//[[:space:]]/ }
# Where the kernel finds matplotlib's list of fonts, which takes seconds to make.
FONT_CACHE=/usr/share/glovebox/matplotlib
SELF_TEST+='
os.environ["MPLCONFIGDIR"] = "/dev/shm"
import ipykernel, IPython, jupyter_client, numpy, pandas, scipy.linalg, matplotlib.font_manager, zmq
assert numpy.linalg.inv(numpy.eye(3)).trace() == 3, "no linear algebra"
assert [f for f in os.listdir("/usr/share/glovebox/matplotlib") if f.startswith("fontlist")], "no list of fonts"
assert os.path.exists(pandas.__cached__), "pandas is not compiled"
'

# The libraries for which maintainer scripts choose between several packages.
link_libraries() {
  local root=$1 folder
  for folder in "$root"/usr/lib/*-linux-gnu*/openblas-pthread; do
    [ -d "$folder" ] || continue
    ln -sf openblas-pthread/libblas.so.3 "${folder%/*}/libblas.so.3"
    ln -sf openblas-pthread/liblapack.so.3 "${folder%/*}/liblapack.so.3"
    ln -sf openblas-pthread/libopenblas.so.0 "${folder%/*}/libopenblas.so.0"
  done
}

# Nobody runs the packages' own tests here.
leave_out_tests() {
  local packages=$1/usr/lib/python3/dist-packages
  find "$packages" -type d \( -name tests -o -name test \) -prune -exec rm -rf {} +
  rm -rf "$packages"/{matplotlib/backends/web_backend,debugpy/_vendored/pydevd/pydevd_attach_to_process} "$1"/usr/share/{javascript,fonts/X11}
  # numpy.testing and pandas.testing are no tests, and are imported by programs.
  find "$1"/usr/lib \( -name '*.a' -o -name '*.pyx' -o -name '*.pxd' \) -delete
}

# in_tree ROOT COMMAND...: with the tree as its root.
in_tree() {
  local root=$1 become=(chroot)
  shift
  is_root || become=(unshare -r chroot)
  env -i PATH=/usr/bin:/bin:/usr/sbin LANG=C.UTF-8 "${become[@]}" "$root" "$@"
}

list_fonts() {
  local root=$1
  mkdir -p "$root$FONT_CACHE"
  in_tree "$root" /usr/bin/env MPLCONFIGDIR="$FONT_CACHE" python3 -c 'import matplotlib.font_manager'
  rm -rf "$root$FONT_CACHE"/*.lock
}

# build_tree WORK: the tarball of the image's root in WORK/image.tar.
build_tree() {
  local work=$1 root=$1/root
  fetch_packages "$work" && unpack_packages "$work" "$root" || return 1
  rm -rf "$work/debs"
  finish_tree "$root"
  link_libraries "$root"
  leave_out_tests "$root"
  install_pip "$root" >>"$work/log" 2>&1 || return 1
  set_modes "$root"
  compile_library "$root" >>"$work/log" 2>&1 || return 1
  cache_libraries "$root" >>"$work/log" 2>&1 || warn "no library cache in the image: ctypes.util.find_library finds nothing in it"
  list_fonts "$root" >>"$work/log" 2>&1 || return 1
  tar -c --sort=name --numeric-owner --owner=0 --group=0 --exclude=./workspace --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' -C "$root" -f "$work/image.tar" . &&
    tar -r --numeric-owner --owner=65532 --group=65532 -C "$root" -f "$work/image.tar" ./workspace
}
