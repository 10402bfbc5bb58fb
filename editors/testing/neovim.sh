#!/bin/sh
# neovim.sh 0.10|0.12: puts that Neovim, with all it needs, below the user's
# cache if it is not there, and prints the path of the program. Debian's own
# packages are unpacked, nothing is installed and apt's state stays as it is.
# The archive keeps one version a suite, so the minor one is what is pinned.
set -eu

version=$1
case $version in
0.10) suite=trixie ;;
0.12) suite=forky ;;
*) echo "neovim.sh: there is no recipe for $version" >&2; exit 2 ;;
esac
dest=${XDG_CACHE_HOME:-$HOME/.cache}/agentls/editors/nvim-$version
nvim=$dest/usr/bin/nvim
if "$nvim" --version >/dev/null 2>&1; then
  echo "$nvim"
  exit
fi

command -v apt-get >/dev/null || { echo 'neovim.sh: this machine has no apt' >&2; exit 1; }
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || { echo "neovim.sh: apt's sources name no Debian archive" >&2; exit 1; }

mkdir -p "${dest%/*}"
new=$(mktemp -d "$dest.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM
apt=$new/apt
mkdir -p "$apt/etc/preferences.d" "$apt/etc/apt.conf.d" "$apt/state/lists/partial" "$apt/cache/archives/partial"
: >"$apt/state/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/etc/sources.list"
in_suite() {
  apt-get -qq -o Dir::Etc="$apt/etc" -o Dir::Etc::sourcelist="$apt/etc/sources.list" -o Dir::Etc::sourceparts="$apt/none" \
    -o Dir::State="$apt/state" -o Dir::State::status="$apt/state/status" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User= \
    -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=10 -o APT::Install-Recommends=false "$@" >&2
}
in_suite update
in_suite -y --download-only install "neovim=$version.*" patchelf
for deb in "$apt"/cache/archives/*.deb; do dpkg -x "$deb" "$new/root"; done

# The suite's C library is another than the machine's. The loader and the
# libraries are written into the program, and not into its environment, so that
# a language server that it starts has the machine's.
loader=$(cd "$new/root" && find . -name 'ld-linux*.so.*' | sed 's/^\.//' | head -n 1)
libc=$(cd "$new/root" && find . -name 'libc.so.6' | sed 's/^\.//' | head -n 1)
triplet=$(basename "$(dirname "$libc")")
libs() { echo "$1/usr/lib/$triplet:$1/lib/$triplet"; }
"$new/root$loader" --library-path "$(libs "$new/root")" "$new/root/usr/bin/patchelf" \
  --set-interpreter "$dest$loader" --force-rpath --set-rpath "$(libs "$dest")" "$new/root/usr/bin/nvim"
rm -rf "$dest"
mv "$new/root" "$dest"
"$nvim" --version >/dev/null
echo "$nvim"
