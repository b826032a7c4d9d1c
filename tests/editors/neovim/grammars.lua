-- The tree-sitter grammars in a real Neovim, after editor-clients/neovim/install.sh:
--
--   nvim --headless -u NONE -i NONE -n -l tests/editors/neovim/grammars.lua

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
vim.opt.runtimepath:prepend(here .. "/../../../editor-clients/neovim")
vim.cmd.runtime("plugin/hlo-analyzer.lua")
vim.cmd("filetype on")

local failed = false
for file, expected in pairs({
  ["../fixtures/transposed_read.hlo"] = { "@keyword", "@function", "@variable", "@type" },
  ["../fixtures/tiled_slice.mlir"] = { "@function", "@variable", "@type" },
  ["../../../grammar/textmate/tests/kernel.ptx"] = { "@keyword", "@function", "@variable" },
}) do
  local good, why = pcall(function()
    vim.cmd.edit(here .. "/" .. file)
    vim.treesitter.start()
    local tree = vim.treesitter.get_parser(0):parse()[1]
    assert(not tree:root():has_error(), "it does not parse")
    local found = {}
    for line = 0, vim.fn.line("$") - 1 do
      for column = 0, #vim.fn.getline(line + 1) - 1 do
        for _, capture in ipairs(vim.treesitter.get_captures_at_pos(0, line, column)) do
          found["@" .. capture.capture] = true
        end
      end
    end
    for _, name in ipairs(expected) do
      assert(found[name], "no " .. name .. ": " .. vim.inspect(vim.tbl_keys(found)))
    end
    vim.wo.foldmethod = "expr"
    vim.wo.foldexpr = "v:lua.vim.treesitter.foldexpr()"
    assert(vim.wait(5000, function()
      for line = 1, vim.fn.line("$") do
        if vim.fn.foldlevel(line) > 0 then
          return true
        end
      end
    end), "nothing folds")
  end)
  print((good and "  ok      " or "  FAILED  ") .. vim.bo.filetype .. " has colours and folds" .. (good and "" or "\n" .. why) .. "\n")
  failed = failed or not good
end
os.exit(failed and 1 or 0)
