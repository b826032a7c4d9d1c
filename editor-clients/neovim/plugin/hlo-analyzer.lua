-- File types, commands and the buffers of kernels. Neovim runs this file when it starts; the rest of the plugin is loaded
-- when it is first needed.

if vim.g.loaded_hlo_analyzer then
  return
end
vim.g.loaded_hlo_analyzer = true

vim.filetype.add({
  extension = { hlo = "hlo", mlir = "mlir", ptx = "ptx" },
  pattern = {
    [".*before_optimizations%.txt"] = "hlo",
    [".*after_optimizations%.txt"] = "hlo",
    ["module_.*%.after_.*%.txt"] = "hlo",
  },
})

local group = vim.api.nvim_create_augroup("hlo-analyzer", {})
local pause = vim.uv.new_timer()

-- `require` at each use, so that starting Neovim does not load the plugin.
local function server() return require("hlo-analyzer.server") end
local function kernels() return require("hlo-analyzer.kernels") end
local function evaluate() return require("hlo-analyzer.evaluate") end
local function compiles() return require("hlo-analyzer.compiles") end
local function control() return require("hlo-analyzer.control") end

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "hlo-analyzer-kernel:///*",
  callback = function(args)
    vim.bo[args.buf].buftype = "nofile"
    vim.bo[args.buf].swapfile = false
    vim.bo[args.buf].filetype = args.file:match("%.(%w+)%?") or ""
    vim.bo[args.buf].modifiable = false
    kernels().fill(args.buf)
  end,
})

vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI" }, {
  group = group,
  callback = function(args)
    if server().is_module(args.buf) or server().is_kernel(args.buf) then
      -- Not for each line that the cursor passes.
      pause:stop()
      pause:start(60, 0, vim.schedule_wrap(function() kernels().follow() end))
    end
  end,
})

local function choices(...)
  local words = { ... }
  return {
    nargs = "?",
    complete = function(typed)
      return vim.tbl_filter(function(word) return vim.startswith(word, typed) end, words)
    end,
  }
end

local function command(name, run, options)
  vim.api.nvim_create_user_command(name, run, options or {})
end

command("HloShowKernel", function() kernels().show_kernel() end)
command("HloAccessPattern", function() kernels().access_pattern() end)
command("HloHeaviestKernels", function(given) kernels().heaviest_kernels(given.args) end, choices("time", "bytes", "name"))
command("HloEvaluate", function(given)
  evaluate().evaluate(nil, nil, given.args ~= "" and given.args or nil)
end, choices("zeros", "random", "iota"))
command("HloConvert", function() evaluate().convert() end)
command("HloCompiles", function() compiles().compiles() end)
command("HloCompileWithXla", function() compiles().compile_with_xla() end)
command("HloComparePass", function() compiles().compare_pass() end)
command("HloNextPass", function() compiles().step_pass("next") end)
command("HloPreviousPass", function() compiles().step_pass("previous") end)
command("HloPassesOfInstruction", function() compiles().instruction_passes() end)
command("HloDevice", function(given) control().select_device(given.args) end, { nargs = "?" })
command("HloDisableWarning", function(given) control().disable_warning(given.args) end, { nargs = 1 })
command("HloStatus", function() control().status() end)
command("HloRestart", function() control().restart() end)
command("HloLog", function() vim.cmd.tabedit(vim.lsp.log.get_filename()) end)
