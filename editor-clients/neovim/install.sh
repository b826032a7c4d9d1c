#!/bin/sh
# Compiles the tree-sitter grammars and installs them with their queries where Neovim finds them. Needs a C compiler.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
grammars="$here/../../grammar/tree-sitter"
site="${XDG_DATA_HOME:-$HOME/.local/share}/nvim/site"
for language in hlo mlir ptx; do
  mkdir -p "$site/parser" "$site/queries/$language"
  "${CC:-cc}" -O2 -fPIC -shared -I "$grammars/$language/src" "$grammars/$language/src/parser.c" \
    -o "$site/parser/$language.so"
  cp "$grammars/$language/queries/"*.scm "$site/queries/$language/"
done
echo "grammars for HLO, MLIR and PTX are in $site"
