#!/bin/sh
# Installs rustomize for this user:
#
#   curl -fsSL @REPOSITORY@/releases/latest/download/install.sh | sh
#
# The archive for this system is held to its line in checksums.txt of the release. Nothing is left
# behind if a step fails. No rights of root are needed.
#
# RUSTOMIZE_INSTALL   the directory for the programs (default: ~/.local/bin)
# RUSTOMIZE_VERSION   the version (default: @VERSION@)
# RUSTOMIZE_RELEASES  where the releases are, for a copy of them inside of a network
#                     (default: @REPOSITORY@/releases/download)
set -eu

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# Writes the file at the address $1 to $2.
download() {
    if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --retry 2 --output "$2" "$1"
    elif command -v wget > /dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "curl or wget is needed"
    fi || fail "cannot download $1"
}

# Prints the sum of the file $1.
sum() {
    if command -v sha256sum > /dev/null; then
        sha256sum < "$1"
    elif command -v shasum > /dev/null; then
        shasum -a 256 < "$1"
    else
        fail "sha256sum or shasum is needed to check what was downloaded"
    fi | cut -d ' ' -f 1
}

# Prints the name of this system in the names of archives.
system() {
    case $(uname -m) in
        x86_64 | amd64) arch=amd64 ;;
        aarch64 | arm64) arch=arm64 ;;
        *) fail "there is no program for the processor $(uname -m): compile it with cargo" ;;
    esac
    case $(uname -s) in
        Darwin) echo "darwin_$arch" ;;
        Linux)
            # The program with glibc can also run plugins that are shared objects.
            libc=$(getconf GNU_LIBC_VERSION 2> /dev/null) || libc=
            minor=${libc#glibc 2.}
            case $minor in
                '' | *[!0-9]*) echo "linux_$arch" ;;
                *) if [ "$minor" -ge 28 ]; then echo "linux-gnu_$arch"; else echo "linux_$arch"; fi ;;
            esac
            ;;
        *) fail "there is no program for $(uname -s): on Windows use install.ps1" ;;
    esac
}

# All of it is a function: a script that was cut short by the network does nothing.
main() {
    version=${RUSTOMIZE_VERSION:-@VERSION@}
    version=${version#v}
    releases=${RUSTOMIZE_RELEASES:-@REPOSITORY@/releases/download}
    to=${RUSTOMIZE_INSTALL:-${HOME:?}/.local/bin}
    file=rustomize_${version}_$(system).tar.gz

    place=$(mktemp -d "${TMPDIR:-/tmp}/rustomize-XXXXXX") || fail "cannot write to ${TMPDIR:-/tmp}"
    trap 'rm -rf "$place"' EXIT
    trap 'exit 1' HUP INT TERM
    download "$releases/v$version/checksums.txt" "$place/checksums.txt"
    wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$place/checksums.txt")
    [ -n "$wanted" ] || fail "checksums.txt of version $version does not name $file"
    download "$releases/v$version/$file" "$place/$file"
    found=$(sum "$place/$file")
    [ "$found" = "$wanted" ] || fail "the sum of $file is $found, expected $wanted: nothing was installed"
    mkdir "$place/files"
    tar -xzf "$place/$file" -C "$place/files" || fail "cannot unpack $file"
    # It writes files under other names and renames them, so that a full disk leaves what was there.
    "$place/files/rustomize" install-to "$to" --as rustomize kubectl-rustomize || fail "nothing was installed"
    case ":$PATH:" in
        *":$to:"*) ;;
        *) echo "$to is not in PATH. Add it: export PATH=\"$to:\$PATH\"" ;;
    esac
}

main "$@"
