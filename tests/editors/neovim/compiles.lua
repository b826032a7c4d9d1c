-- The commands for a dump folder, on the dump in server/test-files.

return function(shared)
  local check, eventually, text, go = shared.check, shared.eventually, shared.text, shared.go
  local dump = shared.here .. "/../../../server/test-files/dump/"

  local function name()
    return vim.api.nvim_buf_get_name(0)
  end

  -- Opens the stage whose file name has `part`, in the only window, with a server that has read it.
  local function open(part)
    vim.cmd("silent! tabonly | silent! only")
    vim.cmd.edit(vim.fn.glob(dump .. "*" .. part .. "*"))
    local buffer = vim.api.nvim_get_current_buf()
    return eventually("the server", function()
      return vim.lsp.get_clients({ name = "hlo-analyzer", bufnr = buffer })[1]
    end)
  end

  local function messages(run)
    local said, notify = {}, vim.notify
    vim.notify = function(message) said[#said + 1] = message end
    local good, why = pcall(run, said)
    vim.notify = notify
    assert(good, why)
    return said
  end

  check("a stage is picked among the passes of a compile, each with what it changed", function()
    open("0005.fusion.after_priority-fusion")
    local offered
    vim.ui.select = function(items, options, picked)
      offered = vim.tbl_map(options.format_item, items)
      for n, label in ipairs(offered) do
        if label:find("layout-assignment", 1, true) then
          picked(items[n])
        end
      end
    end
    vim.cmd("HloCompiles")
    eventually("the picked stage", function()
      return name():find("0001.layout_assignment", 1, true)
    end)
    assert(table.concat(offered, "\n"):find("fusion: priority-fusion (7 of 8)  +8 instructions", 1, true), vim.inspect(offered))
  end)

  check("the next and the previous pass stay on the instruction, and say which pass it is", function()
    open("0005.fusion.after_priority-fusion")
    go(vim.api.nvim_get_current_win(), "%gemm_fusion_dot =")
    local said = messages(function(said)
      vim.cmd("HloPreviousPass")
      eventually("the stage before", function()
        return name():find("0004.fusion", 1, true) and vim.api.nvim_get_current_line():find("%gemm_fusion_dot", 1, true) and said[1]
      end)
      vim.cmd("HloNextPass")
      eventually("the stage after", function()
        return name():find("0005.fusion", 1, true) and vim.api.nvim_get_current_line():find("%gemm_fusion_dot", 1, true) and said[2]
      end)
    end)
    assert(vim.deep_equal(said, { "stage 6 of 8: sort-iota-fusion", "stage 7 of 8: priority-fusion" }), vim.inspect(said))
    open("before_optimizations")
    said = messages(function(said)
      vim.cmd("HloPreviousPass")
      eventually("a message", function() return said[1] end)
    end)
    assert(said[1] == "There is no previous pass.", vim.inspect(said))
  end)

  check("a pass is compared with the one before in a split, and only what it changed differs", function()
    open("0005.fusion.after_priority-fusion")
    local width = vim.o.columns
    for _, columns in ipairs({ 160, 80 }) do
      vim.o.columns = columns
      vim.cmd("HloComparePass")
      eventually("a diff", function()
        return vim.wo.diff and #vim.api.nvim_tabpage_list_wins(0) == 2 and text(0):find(" fusion(", 1, true)
      end)
      assert(not text(0):find("metadata=", 1, true))
      assert(vim.fn.winlayout()[1] == (columns == 160 and "row" or "col"), vim.inspect(vim.fn.winlayout()))
      assert(vim.fn.diff_hlID(vim.fn.line("."), 1) ~= 0, "the cursor is at a difference")
      assert(vim.wo.winbar:find("after: ", 1, true), vim.wo.winbar)
      vim.cmd("tabclose")
    end
    vim.o.columns = width
  end)

  check("the passes that changed an instruction are listed without the names of files", function()
    open("0005.fusion.after_priority-fusion")
    go(vim.api.nvim_get_current_win(), "%gemm_fusion_dot =")
    vim.cmd("HloPassesOfInstruction")
    eventually("the passes", function()
      local listed = vim.fn.getqflist({ title = 0, items = 0 })
      return listed.title == "Passes that changed %gemm_fusion_dot" and #listed.items > 0 and vim.bo.buftype == "quickfix"
    end)
    assert(vim.startswith(text(0), "stage 1 of 8: before optimizations"), text(0))
    vim.api.nvim_win_set_cursor(0, { 3, 0 })
    vim.cmd("execute \"normal! \\<CR>\"")
    assert(name():find("0002.hlo_normalization", 1, true), name())
    vim.cmd("cclose")
  end)

  check("hover tells where a fusion comes from; declaration and implementation go there and back", function()
    local server = open("after_optimizations.txt")
    go(vim.api.nvim_get_current_win(), "%gemm_fusion_dot =")
    local params = vim.lsp.util.make_position_params(0, server.offset_encoding)
    local hover = eventually("a hover with the origin", function()
      local answer = shared.call(server, "request_sync", "textDocument/hover", params, 20000, 0).result
      return answer and answer.contents.value:find("before optimizations: [%dot", 1, true) and answer.contents.value
    end)
    assert(hover:find("layer.py:5", 1, true), hover)
    vim.lsp.buf.declaration()
    eventually("the module before optimizations", function()
      return name():find("before_optimizations", 1, true) and vim.api.nvim_get_current_line():find("%dot_general.1 =", 1, true)
    end)
    vim.lsp.buf.declaration()
    eventually("the op in StableHLO", function()
      return name():find("jax_ir0001_jit_step_compile.mlir", 1, true) and vim.api.nvim_get_current_line():find("stablehlo.dot_general", 1, true)
    end)
    eventually("the server of the buffer", function()
      return #vim.lsp.get_clients({ bufnr = 0 }) > 0
    end)
    vim.lsp.buf.definition()
    eventually("the line of Python", function()
      return vim.bo.buftype == "quickfix" or name():find("layer.py", 1, true)
    end)
    vim.cmd("cclose")
    open("before_optimizations")
    go(vim.api.nvim_get_current_win(), "%tanh.1 =")
    vim.lsp.buf.implementation()
    eventually("the module after optimizations", function()
      return name():find("after_optimizations", 1, true) and vim.api.nvim_get_current_line():find("%loop_tanh_fusion", 1, true)
    end)
  end)

  check("a module is compiled by the Python that the settings name, and what is missing is said", function()
    local server = open("before_optimizations")
    local function configure(settings)
      shared.call(server, "notify", "workspace/didChangeConfiguration", { settings = settings })
    end
    local said = messages(function(said)
      vim.cmd("HloCompileWithXla")
      eventually("a reason", function() return said[2] end)
    end)
    assert(said[2]:find("no Python is set", 1, true), vim.inspect(said))
    -- In place of Python, a program that writes what XLA would write.
    local python = vim.fn.tempname()
    vim.fn.writefile({ "#!/bin/sh", "cp " .. dump .. "module_* \"$5\"" }, python)
    vim.fn.setfperm(python, "rwx------")
    configure({ xla = { python = python }, workspace = { trusted = true } })
    vim.cmd("HloCompileWithXla")
    eventually("the optimised module", function()
      return name():find("hlo-analyzer/compiles/module_0001.jit_step.before_optimizations-", 1, true) and name():find("after_optimizations", 1, true)
    end)
    vim.fn.delete(vim.fs.dirname(name()), "rf")
    configure({ xla = { python = "" }, workspace = { trusted = false } })
  end)

  check("the heaviest kernels of a stage are listed, heaviest first", function()
    open("after_optimizations.txt")
    vim.cmd("HloHeaviestKernels")
    eventually("the list", function() return vim.bo.buftype == "quickfix" and text(0):find(" µs ", 1, true) end)
    assert(vim.startswith(text(0), "%"), text(0))
    vim.cmd("cclose")
  end)
end
