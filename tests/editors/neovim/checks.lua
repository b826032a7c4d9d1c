-- The plugin of editor-clients/neovim in a real Neovim, without a screen:
--
--   HLO_ANALYZER=…/hlo-analyzer nvim --headless -u NONE -i NONE -n -l tests/editors/neovim/checks.lua

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
vim.opt.runtimepath:prepend(here .. "/../../../editor-clients/neovim")
local deprecated = {}
vim.deprecate = function(name)
  deprecated[#deprecated + 1] = name .. "\n" .. debug.traceback()
end
local kernels = require("hlo-analyzer.kernels")
require("hlo-analyzer").setup({ cmd = { vim.env.HLO_ANALYZER or "hlo-analyzer" }, settings = { ptxas = { enable = false } } })

local call = require("hlo-analyzer.server").call

local failed = 0
local function check(name, body)
  local good, why = pcall(body)
  print((good and "  ok      " or "  FAILED  ") .. name .. (good and "" or "\n" .. tostring(why)) .. "\n")
  failed = failed + (good and 0 or 1)
end

local function eventually(what, ask)
  local answer
  vim.wait(20000, function()
    answer = ask()
    return answer
  end, 20)
  return answer or error("not within 20 s: " .. what, 0)
end

local function text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

-- The buffer of a tab: there are several of MLIR.
local function kernel(tab)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.uri_decode(vim.api.nvim_buf_get_name(buffer))
    if vim.startswith(name, "hlo-analyzer-kernel:") and name:find('"tab":"' .. tab .. '"', 1, true) and text(buffer) ~= "" then
      return buffer
    end
  end
end

-- The lines that are marked in a buffer.
local function marked(buffer)
  local space = vim.api.nvim_get_namespaces()["hlo-analyzer-kernel"]
  local lines = {}
  for _, at in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, {})) do
    lines[#lines + 1] = vim.api.nvim_buf_get_lines(buffer, at[2], at[2] + 1, false)[1]
  end
  return table.concat(lines, "\n")
end

local function go(window, needle)
  local buffer = vim.api.nvim_win_get_buf(window)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find(needle, 1, true)
    if column then
      vim.api.nvim_set_current_win(window)
      vim.api.nvim_win_set_cursor(window, { number, column })
      -- Without a screen no event says that the cursor moved.
      kernels.follow()
      return number
    end
  end
  error("no " .. needle, 0)
end

local fixture = vim.fn.tempname() .. ".hlo"
vim.fn.writefile(vim.fn.readfile(here .. "/../fixtures/transpose_and_reduce.hlo"), fixture)
vim.cmd("filetype on")
vim.cmd.edit(fixture)
local hlo = vim.api.nvim_get_current_buf()
local window = vim.api.nvim_get_current_win()
local mlir

check("show kernel opens both tabs beside the HLO", function()
  eventually("the server", function()
    return vim.lsp.get_clients({ name = "hlo-analyzer", bufnr = hlo })[1]
  end)
  go(window, "%input_transpose_fusion =")
  vim.cmd("HloShowKernel")
  mlir = eventually("the MLIR", function() return kernel("mlir") end)
  assert(text(mlir):find("func.func @input_transpose_fusion", 1, true), text(mlir))
  assert(text(eventually("the PTX", function() return kernel("ptx") end)):find(".visible .entry", 1, true))
  assert(vim.api.nvim_get_current_win() == window, "the cursor stays in the HLO")
end)

check("the kernel follows the cursor, and the HLO that in the kernel", function()
  eventually("a mark on the sum", function()
    go(window, "%add.4 =")
    vim.wait(100)
    return marked(mlir):find("arith.addf", 1, true)
  end)
  local other = vim.fn.win_findbuf(mlir)[1]
  eventually("a mark on the instruction", function()
    go(other, "arith.addf")
    vim.wait(100)
    return marked(hlo):find("%add.4 =", 1, true)
  end)
end)

check("the kernel is up to date with the HLO", function()
  local line = go(window, "add(%param_0.1")
  local before = vim.api.nvim_buf_get_lines(hlo, line - 1, line, false)[1]
  vim.api.nvim_buf_set_lines(hlo, line - 1, line, false, { (before:gsub(" add%(", " multiply(")) })
  eventually("a product", function() return text(mlir):find("arith.mulf", 1, true) end)
end)

check("every kind of text has colours, and dumps are known by their names", function()
  local function groups(buffer)
    local found = {}
    vim.api.nvim_buf_call(buffer, function()
      for line = 1, vim.fn.line("$") do
        for column = 1, #vim.fn.getline(line) do
          found[vim.fn.synIDattr(vim.fn.synID(line, column, 1), "name")] = true
        end
      end
    end)
    return found
  end
  vim.cmd("syntax on")
  for extension, names in pairs({
    [".hlo"] = { "hloOpcode", "hloNumber", "hloName", "hloType", "hloKey", "hloKeyword", "hloString" },
    [".mlir"] = { "mlirOp", "mlirNumber", "mlirValue", "mlirType", "mlirSymbol", "mlirAlias" },
    [".ptx"] = { "ptxInstruction", "ptxNumber", "ptxRegister", "ptxDirective", "ptxComment" },
  }) do
    local source = vim.fn.globpath(here .. "/../fixtures", "t*" .. extension, false, true)[1]
    local file = vim.fn.tempname() .. extension
    vim.fn.writefile(source and vim.fn.readfile(source) or { ".visible .entry f()", "{", "\tadd.s32 %r1, %r2, 4; // sum", "}" }, file)
    vim.cmd("silent! edit " .. file)
    vim.cmd("syntax sync fromstart")
    local found = groups(0)
    for _, name in ipairs(names) do
      assert(found[name], extension .. " has no " .. name .. ": " .. vim.inspect(vim.tbl_keys(found)))
    end
    vim.cmd("silent! bwipeout!")
  end
  for name, filetype in pairs({
    ["module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt"] = "hlo",
    ["module_0001.jit_f.before_optimizations.txt"] = "hlo",
    ["module_0002.jit_f.0007.fusion.after_priority-fusion.before_layout.txt"] = "hlo",
    ["module_0001.jit_f.gpu_after_optimizations-buffer-assignment.txt"] = false,
    ["f.mlir"] = "mlir",
    ["f.ptx"] = "ptx",
  }) do
    local found = vim.filetype.match({ filename = name })
    assert(filetype and found == filetype or not filetype and found ~= "hlo", name .. ": " .. vim.inspect(found))
  end
end)

check("kernels are listed and sorted, accesses are drawn, devices are chosen, warnings disabled", function()
  vim.cmd("silent! only")
  local file = vim.fn.tempname() .. ".hlo"
  vim.fn.writefile(vim.fn.readfile(here .. "/../fixtures/transposed_read.hlo"), file)
  vim.cmd.edit(file)
  local buffer = vim.api.nvim_get_current_buf()
  local own = vim.api.nvim_get_current_win()
  local server = eventually("the server", function()
    return vim.lsp.get_clients({ name = "hlo-analyzer", bufnr = buffer })[1]
  end)
  vim.cmd("HloHeaviestKernels time")
  eventually("the list", function() return vim.fn.getqflist()[1] end)
  assert(vim.fn.getqflist()[1].text:find("%add_fusion", 1, true), vim.inspect(vim.fn.getqflist()))
  vim.api.nvim_set_current_win(own)
  vim.cmd("HloHeaviestKernels name")
  vim.wait(300)
  assert(vim.fn.getqflist()[2].text:find("%scale_fusion", 1, true), vim.inspect(vim.fn.getqflist()))
  vim.cmd("cclose")
  go(own, "%add_fusion =")
  vim.cmd("HloAccessPattern")
  eventually("the picture", function() return text(0):find("sectors", 1, true) end)
  vim.cmd("silent! only")
  vim.cmd.buffer(buffer)
  local function status()
    return call(server, "request_sync", "hlo-analyzer/status", vim.empty_dict(), 20000, buffer).result
  end
  vim.cmd("HloDevice a100-sxm-80")
  eventually("the device", function() return status().device == "a100-sxm-80" end)
  eventually("a warning", function() return vim.diagnostic.get(buffer)[1] end)
  vim.cmd("HloDisableWarning uncoalesced")
  eventually("no warning", function() return status().disabled_warnings[1] == "uncoalesced" and #vim.diagnostic.get(buffer) == 0 end)
  vim.cmd("HloDevice h100-sxm")
end)

check("MLIR has maps, kernels and HLO", function()
  vim.cmd("silent! only")
  local file = vim.fn.tempname() .. ".mlir"
  vim.fn.writefile(vim.fn.readfile(here .. "/../fixtures/tiled_slice.mlir"), file)
  vim.cmd.edit(file)
  local buffer = vim.api.nvim_get_current_buf()
  local server = eventually("the server", function()
    return vim.lsp.get_clients({ name = "hlo-analyzer", bufnr = buffer })[1]
  end)
  go(vim.api.nvim_get_current_win(), "stablehlo.transpose")
  local params = vim.lsp.util.make_position_params(0, server.offset_encoding)
  local answer = call(server, "request_sync", "textDocument/hover", params, 20000, buffer)
  assert(answer.result.contents.value:find("(d0, d1) -> (d1, d0)", 1, true), vim.inspect(answer))
  vim.cmd("HloShowKernel")
  eventually("its PTX", function()
    local ptx = kernel("ptx")
    return ptx and text(ptx):find("transpose", 1, true)
  end)
  assert(vim.api.nvim_get_current_buf() == buffer, "the cursor stays in the MLIR")
  vim.cmd("HloConvert")
  eventually("the HLO", function()
    return vim.bo.filetype == "hlo" and text(0):find("transpose(", 1, true)
  end)
end)

-- Checks of one kind each are files of their own, which return a function of what they share.
local shared = { check = check, eventually = eventually, text = text, go = go, call = call, here = here }
dofile(here .. "/compiles.lua")(shared)
dofile(here .. "/control.lua")(shared)

for _, client in ipairs(vim.lsp.get_clients()) do
  require("hlo-analyzer.server").call(client, "stop")
end
vim.wait(500)
check("nothing of Neovim that is deprecated is used", function()
  assert(#deprecated == 0, table.concat(deprecated, "\n"))
end)
os.exit(failed == 0 and 0 or 1)
