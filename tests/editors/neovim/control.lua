-- Values, the server's state, and `:checkhealth`.

return function(shared)
  local check, eventually, text, go = shared.check, shared.eventually, shared.text, shared.go

  local function open(fixture)
    vim.cmd("silent! tabonly | silent! only")
    local file = vim.fn.tempname() .. "." .. vim.fn.fnamemodify(fixture, ":e")
    vim.fn.writefile(vim.fn.readfile(shared.here .. "/../fixtures/" .. fixture), file)
    vim.cmd.edit(file)
    local buffer = vim.api.nvim_get_current_buf()
    eventually("the server", function()
      return vim.lsp.get_clients({ name = "hlo-analyzer", bufnr = buffer })[1]
    end)
  end

  check("values are computed from given, asked for and written parameters", function()
    open("tiled_slice.mlir")
    local window = vim.api.nvim_get_current_win()
    go(window, "stablehlo.add")
    vim.cmd("HloEvaluate iota")
    eventually("rows", function() return text(0):find("\n0  2", 1, true) end)
    vim.cmd("close")
    vim.ui.select = function(items, _, picked) picked(items[1]) end
    vim.ui.input = function(_, typed) typed("{1, 2}") end
    vim.cmd("HloEvaluate")
    eventually("rows of written values", function() return text(0):find("\n2  4", 1, true) end)
    vim.cmd("close")
  end)

  check("the health check finds the program and the server", function()
    open("transposed_read.hlo")
    vim.cmd("checkhealth hlo-analyzer")
    local said = eventually("a report", function() return text(0):find("open documents", 1, true) and text(0) end)
    assert(said:find("OK hlo-analyzer 0.", 1, true), said)
    assert(not said:find("ERROR", 1, true), said)
    vim.cmd("silent! tabclose")
  end)

  check("the server starts again", function()
    open("transposed_read.hlo")
    local function process() return vim.lsp.get_clients({ name = "hlo-analyzer" })[1] end
    local before = process().id
    vim.cmd("HloRestart")
    eventually("another server", function()
      local now = process()
      return now and now.id ~= before and next(now.attached_buffers)
    end)
  end)
end
