#!/bin/sh
# Compiles the grammars and installs them with their queries into Helix's runtime folder. Needs a C compiler.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
grammars="$here/../../grammar/tree-sitter"
runtime="${XDG_CONFIG_HOME:-$HOME/.config}/helix/runtime"
for language in hlo mlir ptx; do
  mkdir -p "$runtime/grammars" "$runtime/queries/$language"
  "${CC:-cc}" -O2 -fPIC -shared -I "$grammars/$language/src" "$grammars/$language/src/parser.c" \
    -o "$runtime/grammars/$language.so"
  cp "$grammars/$language/queries/"*.scm "$runtime/queries/$language/"
done
echo "colours for HLO, MLIR and PTX are in $runtime"
