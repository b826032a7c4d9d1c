#!/bin/sh
# From an editor that was never started to the first warning, by its README: first_finding.sh neovim|helix. Prints the warning and
# the seconds. Needs the editor, for Helix tmux, and hlo-analyzer on PATH.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
dump="$tree/tests/editors/fixtures/transposed_read.hlo"
HOME=$(mktemp -d)
export HOME
unset XDG_CONFIG_HOME XDG_DATA_HOME
start=$(date +%s%N)

case "$1" in
  neovim)
    mkdir -p "$HOME/.config/nvim"
    # The first code block of the README is the whole configuration.
    awk '/^```lua$/ { block++; next } /^```$/ { if (block == 1) exit } block == 1' "$tree/editor-clients/neovim/README.md" |
      sed "s#…#$tree#" > "$HOME/.config/nvim/init.lua"
    found=$(nvim --headless "$dump" -c 'lua
      local warnings = function() return vim.diagnostic.get(0, { severity = { min = vim.diagnostic.severity.WARN } }) end
      if not vim.wait(30000, function() return #warnings() > 0 end, 20) then vim.cmd("cquit") end
      io.stdout:write(warnings()[1].message)
      vim.cmd("qall!")')
    ;;
  helix)
    mkdir -p "$HOME/.config/helix"
    cp "$tree/editor-clients/helix/languages.toml" "$HOME/.config/helix/languages.toml"
    trap 'tmux -L first kill-server 2> /dev/null' EXIT
    tmux -L first -u new-session -d -x 160 -y 50 hx "$dump"
    for _ in $(seq 300); do
      # To the next diagnostic, whose text is then shown.
      tmux -L first send-keys "]" d
      found=$(tmux -L first capture-pane -p | grep -m 1 "sectors per request" || true)
      [ -z "$found" ] || break
      sleep 0.1
    done
    [ -n "$found" ] || { tmux -L first capture-pane -p; exit 1; }
    ;;
esac
echo "$found" | head -n 1
awk "BEGIN { printf \"first finding after %.2f s\n\", ($(date +%s%N) - $start) / 1e9 }"
