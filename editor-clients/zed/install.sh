#!/bin/sh
# Prepares the extension in a folder, with the grammars of this checkout: Zed takes them from a commit of a repository.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:?"usage: install.sh FOLDER"}
commit=$(git -C "$root" rev-parse HEAD)
mkdir -p "$out"
cp -R "$here/Cargo.toml" "$here/Cargo.lock" "$here/src" "$here/languages" "$root/LICENSE" "$out/"
# The repository above the grammars is that of the extension itself, and stays.
sed -e "/^\[grammars/,\$ s#^repository = .*#repository = \"file://$root\"#" -e "s#^rev = .*#rev = \"$commit\"#" \
  "$here/extension.toml" > "$out/extension.toml"
echo "in Zed: \"zed: install dev extension\", then $out"
