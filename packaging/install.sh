#!/bin/sh
# Installs herma for this user, from the files of a release.
#
#   curl -fsSL URL/install.sh | sh
#   sh install.sh                  in the folder with the files of a release
#   sh install.sh --prefix DIR     into DIR instead of ~/.local
#   sh install.sh --uninstall      removes what this script installed, and nothing else; --force, although agents start it
#
# It needs tar, gzip, sha256sum or shasum, and to fetch files curl or wget. It writes below the prefix only, after the checksum
# was compared. HERMA_URL is the folder with the files of a release, instead of the one that this script is from.
set -eu

url="${HERMA_URL:-@URL@}"
version="@VERSION@"
prefix="${HOME:?}/.local"
action=install
force=

fail() { echo "herma: $*" >&2; exit 1; }

while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) [ $# -gt 1 ] || fail "--prefix needs a folder"; prefix="$2"; shift ;;
        --uninstall) action=uninstall ;;
        --force) force=yes ;;
        -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit ;;
        *) fail "unknown argument $1; there are --prefix DIR, --uninstall and --force" ;;
    esac
    shift
done

# The list of what was installed, relative to the prefix.
list="$prefix/share/doc/herma/installed"

if [ "$action" = uninstall ]; then
    [ -f "$list" ] || fail "nothing of this script is below $prefix"
    herma="$prefix/bin/herma"
    # Without the program nothing can be taken out of the agents' settings any more.
    open="$("$herma" setup --undo --dry-run --json 2> /dev/null | tr -d ' \n' || true)"
    case "$force$open" in
        yes* | *'"restores":[],"removes":[]'*) ;;
        *) fail "agents still start it; first give: $herma setup --undo (or --uninstall --force)" ;;
    esac
    "$herma" daemon stop > /dev/null 2>&1 || true
    echo share/doc/herma/installed >> "$list"
    folders="$(while IFS= read -r file; do
        while file="$(dirname "$file")" && [ "$file" != . ]; do echo "$file"; done
    done < "$list" | sort -ru)"
    cp "$list" "$prefix/share/doc/herma/removing"
    while IFS= read -r file; do rm -f "$prefix/$file"; done < "$prefix/share/doc/herma/removing"
    rm -f "$prefix/share/doc/herma/removing"
    # Those that are empty now, the deepest first.
    echo "$folders" | while IFS= read -r folder; do rmdir "$prefix/$folder" 2> /dev/null || true; done
    echo "herma is gone from $prefix; your data stay"
    exit
fi

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) platform=linux-x86_64-musl ;;
    Linux-aarch64) platform=linux-aarch64-musl ;;
    Darwin-arm64) platform=macos-aarch64 ;;
    Darwin-x86_64) platform=macos-x86_64 ;;
    *) fail "there are no programs for $(uname -s) on $(uname -m); build them with cargo" ;;
esac

name="herma-$version-$platform"
# Files next to this script are used as they are. Run from a pipe, it has no folder.
case "$0" in
    *install.sh) here="$(cd "$(dirname "$0")" && pwd)" ;;
    *) here= ;;
esac
if [ -z "${HERMA_URL:-}" ] && [ -n "$here" ] && [ -f "$here/$name.tar.gz" ]; then url="file://$here"; fi
[ -n "$url" ] || fail "$name.tar.gz is not next to this script, and HERMA_URL names no folder to fetch it from"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT INT TERM

fetch() {
    case "$1" in
        file://*)
            cp "${1#file://}" "$2" || fail "${1#file://} can't be read"
            return
            ;;
    esac
    if command -v curl > /dev/null; then
        curl -fsSL --retry 3 -o "$2" "$1" || fail "$1 can't be fetched"
    elif command -v wget > /dev/null; then
        wget -q -O "$2" "$1" || fail "$1 can't be fetched"
    else
        fail "curl or wget is needed"
    fi
}

fetch "$url/$name.tar.gz" "$work/$name.tar.gz"
fetch "$url/SHA256SUMS" "$work/SHA256SUMS"
expected="$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")"
[ -n "$expected" ] || fail "SHA256SUMS has no line for $name.tar.gz"
if command -v sha256sum > /dev/null; then
    found="$(sha256sum "$work/$name.tar.gz" | cut -d ' ' -f 1)"
elif command -v shasum > /dev/null; then
    found="$(shasum -a 256 "$work/$name.tar.gz" | cut -d ' ' -f 1)"
else
    fail "sha256sum or shasum is needed"
fi
[ "$expected" = "$found" ] || fail "$name.tar.gz has the checksum $found instead of $expected; nothing was installed"

tar -C "$work" -xzf "$work/$name.tar.gz"
mkdir -p "$prefix/share/doc/herma"
(cd "$work/$name" && find bin share -type f) > "$work/files"
while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # A running program can't be written, so the new file takes its place.
    cp "$work/$name/$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
done < "$work/files"
cp "$work/files" "$list"

echo "herma $version is in $prefix/bin"
case ":$PATH:" in
    *":$prefix/bin:"*) echo "next: herma setup" ;;
    *) echo "next: add $prefix/bin to PATH, then: herma setup" ;;
esac
