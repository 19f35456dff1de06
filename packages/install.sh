#!/bin/sh
# Installs stopgate @VERSION@ for this account: downloads the program, compares its checksum, and puts
# it into ~/.local/bin. STOPGATE_BIN_DIR names another directory, STOPGATE_BASE another address of the
# release. Where minisign is here, the signature is checked as well.
set -eu

version='@VERSION@'
base="${STOPGATE_BASE:-@BASE@}"
key='@KEY@'
bin="${STOPGATE_BIN_DIR:-$HOME/.local/bin}"

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case "$(uname -s)" in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no program for $(uname -s); on Windows use install.ps1" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) processor=x86_64 ;;
  aarch64 | arm64) processor=aarch64 ;;
  *) fail "there is no program for $(uname -m)" ;;
esac

name="stopgate-$version-$processor-$system"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

fetch() {
  case "$base" in
    /*) cp "$base/$1" "$1" || fail "could not read $base/$1" ;;
    *)
      if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --proto '=https' --output "$1" "$base/$1" || fail "could not download $base/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget --quiet --https-only --output-document="$1" "$base/$1" || fail "could not download $base/$1"
      else
        fail 'neither curl nor wget is here'
      fi
      ;;
  esac
}

fetch "$name.tar.gz"
fetch SHA256SUMS
grep "  $name.tar.gz\$" SHA256SUMS >sum || fail "SHA256SUMS has no line for $name.tar.gz"
if command -v sha256sum >/dev/null 2>&1; then
  sha256sum --check --quiet sum 2>/dev/null || sha256sum -c sum >/dev/null 2>&1 || fail "the checksum of $name.tar.gz differs; nothing was installed"
elif command -v shasum >/dev/null 2>&1; then
  shasum -a 256 -c sum >/dev/null 2>&1 || fail "the checksum of $name.tar.gz differs; nothing was installed"
else
  fail 'neither sha256sum nor shasum is here'
fi
if command -v minisign >/dev/null 2>&1; then
  fetch SHA256SUMS.minisig
  minisign -V -q -P "$key" -m SHA256SUMS || fail 'the signature of SHA256SUMS is not valid; nothing was installed'
fi

tar -xzf "$name.tar.gz"
mkdir -p "$bin"
# A new name first: a hook may be running the old program.
cp "$name/stopgate" "$bin/.stopgate.new"
chmod 755 "$bin/.stopgate.new"
mv -f "$bin/.stopgate.new" "$bin/stopgate"

echo "stopgate $version is $bin/stopgate"
case ":$PATH:" in
  *":$bin:"*) ;;
  *) echo "$bin is not on your PATH: add it, so that agents find stopgate" ;;
esac
echo 'next: stopgate try, then stopgate install'
