-- hlo-analyzer for Neovim 0.10 and newer: starts the server for HLO and MLIR, and shows kernels as live buffers.
--
--   require("hlo-analyzer").setup({ cmd = { "hlo-analyzer" }, settings = { gpu = { device = "a100-sxm-80" } } })
--
-- The code action "Show kernel", a lens, or :HloShowKernel opens the kernel of the instruction under the cursor beside it.

local M = {}

local SCHEME = "hlo-analyzer-kernel:"
local marks = vim.api.nvim_create_namespace("hlo-analyzer-kernel")
local group = vim.api.nvim_create_augroup("hlo-analyzer", {})
local pause = vim.uv.new_timer()

local function client()
  return vim.lsp.get_clients({ name = "hlo-analyzer" })[1]
end

local function ask(method, params, answered)
  local server = client()
  if server then
    server.request("hlo-analyzer/" .. method, params, function(failure, answer)
      if not failure and answer and answer ~= vim.NIL then
        answered(answer)
      end
    end, 0)
  end
end

-- Whether a buffer is one of modules, not of kernels.
local function is_module(buffer)
  local filetype = vim.bo[buffer].filetype
  return (filetype == "hlo" or filetype == "mlir") and not vim.startswith(vim.api.nvim_buf_get_name(buffer), SCHEME)
end

local function is_kernel(buffer)
  return vim.startswith(vim.api.nvim_buf_get_name(buffer), SCHEME)
end

-- Fills the buffer of a tab; the cursor and the window stay where they are.
local function fill(buffer)
  local uri = vim.api.nvim_buf_get_name(buffer)
  ask("kernelContent", { uri = uri }, function(content)
    if not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((content.text:gsub("\n$", "")), "\n"))
    vim.bo[buffer].modifiable = false
    vim.bo[buffer].modified = false
    local server = client()
    -- With this the server knows that it is shown, and keeps it up to date.
    if server and not vim.lsp.buf_is_attached(buffer, server.id) then
      vim.lsp.buf_attach_client(buffer, server.id)
    end
  end)
end

local function mark(buffer, lines)
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  for _, run in ipairs(lines or {}) do
    for line = run.first, math.min(run.last, last) do
      vim.api.nvim_buf_set_extmark(buffer, marks, line, 0, { line_hl_group = "Visual" })
    end
  end
end

-- Shows a line in a window without going there.
local function reveal(window, line)
  local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window))
  local info = vim.fn.getwininfo(window)[1]
  if line + 1 < info.topline or line + 1 > info.botline then
    vim.api.nvim_win_set_cursor(window, { math.min(line + 1, count), 0 })
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! zz")
    end)
  end
end

local function windows_of(matches)
  return vim.tbl_filter(function(window)
    return matches(vim.api.nvim_win_get_buf(window))
  end, vim.api.nvim_tabpage_list_wins(0))
end

-- The other side follows the cursor.
function M.follow()
  local buffer = vim.api.nvim_get_current_buf()
  if is_kernel(buffer) then
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    ask("kernelSource", { uri = vim.api.nvim_buf_get_name(buffer), line = line }, function(source)
      mark(buffer, source.lines)
      local file = vim.uri_to_bufnr(source.uri)
      for _, window in ipairs(windows_of(function(other) return other == file end)) do
        if source.at and source.at ~= vim.NIL then
          local range = source.at.range
          mark(file, { { first = range.start.line, last = range["end"].line } })
          reveal(window, range.start.line)
        end
      end
    end)
  elseif is_module(buffer) then
    local server = client()
    if not server then
      return
    end
    vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
    local here = vim.lsp.util.make_position_params(0, server.offset_encoding)
    for _, window in ipairs(windows_of(is_kernel)) do
      local kernel = vim.api.nvim_win_get_buf(window)
      local params = { uri = vim.api.nvim_buf_get_name(kernel), position = here.position }
      ask("kernelLines", params, function(answer)
        if vim.api.nvim_win_is_valid(window) then
          mark(kernel, answer.lines)
          if answer.lines[1] then
            reveal(window, answer.lines[1].first)
          end
        end
      end)
    end
  end
end

-- Opens the tabs of the kernel at a position (of the cursor, where none is given) beside the module, the first in front.
function M.show_kernel(uri, position)
  local server = client()
  if not server then
    return vim.notify("hlo-analyzer does not run here", vim.log.levels.WARN)
  end
  local here = vim.lsp.util.make_position_params(0, server.offset_encoding)
  local params = {
    textDocument = { uri = uri or here.textDocument.uri },
    position = position or here.position,
  }
  server.request("hlo-analyzer/showKernel", params, function(failure, kernel)
    if failure or not kernel or kernel == vim.NIL then
      return vim.notify("There is no kernel at this place.")
    end
    local from = vim.api.nvim_get_current_win()
    local window = windows_of(is_kernel)[1]
    if window then
      vim.api.nvim_set_current_win(window)
    else
      vim.cmd("botright vsplit")
    end
    for n = #kernel.tabs, 1, -1 do
      -- With fewer slashes Neovim takes it for a file in this folder.
      local name = kernel.tabs[n].uri:gsub("^(.-):/+", "%1:///")
      vim.cmd.edit(vim.fn.fnameescape(name))
    end
    vim.api.nvim_set_current_win(from)
    M.follow()
  end, 0)
end

-- Asks for the parameters that the instruction under the cursor depends on, one by one, and shows its value.
function M.evaluate()
  local server = client()
  if not server then
    return
  end
  local params = vim.lsp.util.make_position_params(0, server.offset_encoding)
  local function show(answer)
    local value = answer.outputs and table.concat(answer.outputs, "\n") or answer.reason
    vim.notify("%" .. answer.instruction .. " = " .. value)
  end
  ask("evaluate", params, function(asked)
    local inputs = {}
    local function next_parameter(n)
      local parameter = asked.parameters[n]
      if not parameter then
        return #inputs > 0 and ask("evaluate", vim.tbl_extend("error", params, { inputs = inputs }), show) or show(asked)
      end
      local sample = parameter.sample ~= vim.NIL and parameter.sample or ""
      vim.ui.input({ prompt = "%" .. parameter.name .. ": " .. parameter.shape .. " = ", default = sample }, function(text)
        if text then
          for blank = #inputs + 1, parameter.number do
            inputs[blank] = ""
          end
          inputs[parameter.number + 1] = text
          next_parameter(n + 1)
        end
      end)
    end
    next_parameter(1)
  end)
end

-- The module in the other language, HLO as StableHLO and StableHLO as HLO, in a new buffer beside it.
function M.convert()
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  ask("convert", params, function(answer)
    vim.cmd("botright vnew")
    vim.bo.buftype = "nofile"
    vim.bo.bufhidden = "wipe"
    vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split((answer.text:gsub("\n$", "")), "\n"))
    vim.bo.filetype = answer.language
    vim.bo.modified = false
  end)
end

function M.setup(options)
  options = options or {}
  vim.filetype.add({
    extension = { hlo = "hlo", mlir = "mlir", ptx = "ptx" },
    pattern = {
      [".*before_optimizations%.txt"] = "hlo",
      [".*after_optimizations%.txt"] = "hlo",
      ["module_.*%.after_.*%.before_.*%.txt"] = "hlo",
    },
  })
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { commands = { "hlo-analyzer.showKernel" } }

  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = { "hlo", "mlir" },
    callback = function(args)
      -- The tabs of a kernel are MLIR, too: they are filled by the server that they are shown for.
      if is_kernel(args.buf) then
        return
      end
      vim.lsp.start({
        name = "hlo-analyzer",
        cmd = options.cmd or { "hlo-analyzer" },
        root_dir = options.root_dir or vim.fs.dirname(args.file),
        capabilities = capabilities,
        init_options = options.settings,
        commands = {
          ["hlo-analyzer.showKernel"] = function(command)
            M.show_kernel(unpack(command.arguments))
          end,
        },
        handlers = {
          ["hlo-analyzer/kernelChanged"] = function(_, params)
            local buffer = vim.fn.bufnr("^" .. vim.fn.escape(params.uri, "\\*?[]{}~$") .. "$")
            if buffer >= 0 then
              fill(buffer)
            end
          end,
        },
      }, { reuse_client = function(running) return running.name == "hlo-analyzer" end })
    end,
  })
  vim.api.nvim_create_autocmd("BufReadCmd", {
    group = group,
    pattern = SCHEME .. "///*",
    callback = function(args)
      vim.bo[args.buf].buftype = "nofile"
      vim.bo[args.buf].swapfile = false
      vim.bo[args.buf].filetype = args.file:match("%.(%w+)%?") or ""
      vim.bo[args.buf].modifiable = false
      fill(args.buf)
    end,
  })
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI" }, {
    group = group,
    callback = function(args)
      if is_module(args.buf) or is_kernel(args.buf) then
        pause:stop()
        pause:start(60, 0, vim.schedule_wrap(M.follow))
      end
    end,
  })
  vim.api.nvim_create_user_command("HloShowKernel", function() M.show_kernel() end, {})
  vim.api.nvim_create_user_command("HloEvaluate", function() M.evaluate() end, {})
  vim.api.nvim_create_user_command("HloConvert", function() M.convert() end, {})
end

return M
