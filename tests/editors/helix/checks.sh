#!/bin/sh
# What Helix shows with editor-clients/helix, read from a terminal of 80 columns. Needs hx, tmux and a C compiler on PATH,
# `languages.toml` in Helix's configuration folder, and hlo-analyzer on PATH.
here=$(cd "$(dirname "$0")" && pwd)
dump="$here/../../../server/test-files/dump"
work=$(mktemp -d)
failed=0

report() { # WHAT STATUS SHOWN
  if [ "$2" = 0 ]; then
    echo "  ok      $1"
  else
    failed=1
    printf '  FAILED  %s\n%s\n' "$1" "$3"
  fi
}

screen() { tmux -L checks capture-pane -p; }

# sees WHAT TEXT: waits until the screen has the text.
sees() {
  tries=0
  while [ $tries -lt 100 ]; do
    if screen | grep -qF -- "$2"; then
      report "$1" 0
      return 0
    fi
    tries=$((tries + 1))
    sleep 0.1
  done
  report "$1" 1 "no \"$2\" on the screen:
$(screen)"
  return 1
}

keys() { tmux -L checks send-keys "$@"; }

# A key right behind Escape would be read as that key with Alt.
escape() {
  keys Escape
  sleep 0.3
}

# opens FILE: a fresh Helix whose server has answered.
opens() {
  tmux -L checks kill-server 2>/dev/null
  tmux -L checks -u new-session -d -x 80 -y 40 hx "$1"
  sees "$(basename "$1"): opens" "NOR" || return 1
  tries=0
  # A hover in the first column answers when the server is up; Helix says so until then.
  while [ $tries -lt 100 ]; do
    keys Space k
    sleep 0.2
    if screen | grep -qF "stage"; then break; fi
    escape
    tries=$((tries + 1))
  done
  escape
}

said=$(sh "$here/../../../editor-clients/helix/install.sh" 2>&1)
report "the grammars compile and install" $? "$said"
for language in hlo mlir ptx; do
  health=$(hx --health "$language")
  # Helix has no server for PTX.
  if [ "$language" != ptx ]; then
    echo "$health" | grep -q "hlo-analyzer.*/hlo-analyzer"
    report "$language: the server is found" $? "$health"
  fi
  for has in parser "Highlight queries"; do
    echo "$health" | grep "$has" | grep -q "✓"
    report "$language: $has" $? "$health"
  done
done

cp "$dump"/* "$work"
cd "$work" || exit 1
last=$(ls "$work"/*gpu_after_optimizations.txt)
if opens "$last"; then
  keys Space k
  sees "hover on HloModule says which stage the file is" "stage 8 of 8"
  escape
  keys -l '/%gemm_fusion_dot ='
  keys Enter
  keys Space k
  sees "hover on a fusion shows its cost in 80 columns" "kB needed"
  escape
  keys -l 'gD'
  sees "declaration leads to the module before optimizations" "%dot_general.1 = f32"
  sees "… whose file is open" "before_optimizations.txt"
  keys -l 'gi'
  sees "implementation offers what became of it" "gpu_after_optimizations.txt:"
fi
if opens "$last"; then
  keys -l '/%loop_tanh_fusion ='
  keys Enter
  keys -l ' a'
  sees "code actions offer the kernel" "Show kernel"
  escape
fi
tmux -L checks kill-server 2>/dev/null
rm -rf "$work"
exit $failed
