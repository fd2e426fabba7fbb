#!/usr/bin/env bash
# Fetches the one vendored file of the page from npm and checks it against SHA256SUMS.
# Inter, variable weight, Latin subset; SIL Open Font License 1.1 (LICENSE-inter.txt).
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" @fontsource-variable/inter@5.3.0
tar -xzf "$work"/*.tgz -C "$work"
cp "$work/package/files/inter-latin-wght-normal.woff2" .
cp "$work/package/LICENSE" LICENSE-inter.txt
sha256sum --check SHA256SUMS
