-- hlo-analyzer for Neovim 0.10 and newer: starts the server for HLO and MLIR, and shows kernels as live buffers.
--
--   require("hlo-analyzer").setup({ cmd = { "hlo-analyzer" }, settings = { gpu = { device = "a100-sxm-80" } } })
--
-- The code action "Show kernel", a code lens or :HloShowKernel opens the kernel of the instruction under the cursor
-- beside it. The README lists the other commands.

local M = {}

local SCHEME = "hlo-analyzer-kernel:"
local marks = vim.api.nvim_create_namespace("hlo-analyzer-kernel")
local group = vim.api.nvim_create_augroup("hlo-analyzer", {})
local pause = vim.uv.new_timer()

local function client()
  return vim.lsp.get_clients({ name = "hlo-analyzer" })[1]
end

-- Returns a buffer that the server knows: the current one if possible.
local function buffer_of(server)
  local here = vim.api.nvim_get_current_buf()
  return server.attached_buffers[here] and here or next(server.attached_buffers)
end

local function ask(method, params, answered)
  local server = client()
  if server then
    server.request("hlo-analyzer/" .. method, params, function(failure, answer)
      if not failure and answer and answer ~= vim.NIL then
        answered(answer)
      end
    end, buffer_of(server))
  end
end

-- Returns the server for a command; shows a message if there is none.
local function running()
  local server = client()
  if not server then
    vim.notify("The hlo-analyzer server is not running.", vim.log.levels.ERROR)
  end
  return server
end

-- Sends a request that the user waits for. Shows the message `nothing` if the response is empty.
local function request(method, params, nothing, answered)
  local server = running()
  if not server then
    return
  end
  server.request("hlo-analyzer/" .. method, params, function(failure, answer)
    if failure then
      vim.notify("hlo-analyzer: " .. failure.message, vim.log.levels.ERROR)
    elseif not answer or answer == vim.NIL then
      vim.notify(nothing)
    else
      answered(answer)
    end
  end, buffer_of(server))
end

-- Returns the document and position given by an action, or those of the cursor.
local function place(uri, position)
  local server = client()
  local here = vim.lsp.util.make_position_params(0, server and server.offset_encoding or "utf-16")
  return { textDocument = { uri = uri or here.textDocument.uri }, position = position or here.position }
end

-- Shows text in a scratch window.
local function show_text(text, filetype)
  vim.cmd("botright vnew")
  vim.bo.buftype = "nofile"
  vim.bo.bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split((text:gsub("\n$", "")), "\n"))
  vim.bo.filetype = filetype
  vim.bo.modified = false
end

-- Whether a buffer shows a module rather than a kernel.
local function is_module(buffer)
  local filetype = vim.bo[buffer].filetype
  return (filetype == "hlo" or filetype == "mlir") and not vim.startswith(vim.api.nvim_buf_get_name(buffer), SCHEME)
end

local function is_kernel(buffer)
  return vim.startswith(vim.api.nvim_buf_get_name(buffer), SCHEME)
end

-- Fills the buffer of a tab. The cursor and the window keep their positions.
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
    -- Attaching tells the server that the buffer is shown; the server then keeps it up to date.
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

-- Shows a line in a window without moving there.
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

-- Marks and reveals, on the other side, the lines that correspond to the cursor.
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

-- Opens the tabs of the kernel at a position (by default the cursor) beside the module, with the first tab in
-- front.
function M.show_kernel(uri, position)
  request("showKernel", place(uri, position), "There is no kernel at this place.", function(kernel)
    local from = vim.api.nvim_get_current_win()
    local window = windows_of(is_kernel)[1]
    if window then
      vim.api.nvim_set_current_win(window)
    else
      vim.cmd("botright vsplit")
    end
    for n = #kernel.tabs, 1, -1 do
      -- With fewer slashes Neovim takes the name for a file in the current folder.
      local name = kernel.tabs[n].uri:gsub("^(.-):/+", "%1:///")
      vim.cmd.edit(vim.fn.fnameescape(name))
    end
    vim.api.nvim_set_current_win(from)
    M.follow()
  end)
end

-- The values that the user chose in the last evaluation.
local last_fill = nil
local BY_HAND = "values written by hand"

-- Shows the value of an instruction beside the module. `fill` gives the values of the parameters that it depends
-- on: "zeros", "random" or "iota". Without it the user chooses.
function M.evaluate(uri, position, fill)
  local params = vim.tbl_extend("error", place(uri, position), { summary = true })
  local function show(answer)
    if answer.text then
      show_text(answer.text, "text")
    else
      vim.notify("%" .. answer.instruction .. ": " .. answer.reason)
    end
  end
  local function evaluate(values)
    ask("evaluate", vim.tbl_extend("error", params, values), show)
  end
  local function by_hand(asked)
    local inputs = {}
    local function next_parameter(n)
      local parameter = asked.parameters[n]
      if not parameter then
        return evaluate({ inputs = inputs })
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
  end
  request("evaluate", params, "There is no instruction at this place.", function(asked)
    if #asked.parameters == 0 then
      return show(asked)
    elseif fill then
      return evaluate({ fill = fill })
    end
    local choices = vim.tbl_filter(function(choice) return choice ~= last_fill end, { BY_HAND, "zeros", "random", "iota" })
    if last_fill then
      table.insert(choices, 1, last_fill)
    end
    vim.ui.select(choices, { prompt = "The parameters of %" .. asked.instruction .. " hold" }, function(choice)
      if not choice then
        return
      end
      last_fill = choice
      if choice == BY_HAND then
        by_hand(asked)
      else
        evaluate({ fill = choice })
      end
    end)
  end)
end

-- Shows the module in the other language, HLO as StableHLO or StableHLO as HLO, in a new buffer beside it.
function M.convert()
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  request("convert", params, "There is nothing to convert in this file.", function(answer)
    show_text(answer.text, answer.language)
  end)
end

-- Shows the lanes of a warp on memory, as text.
function M.access_pattern(uri, position)
  request("accessPattern", place(uri, position), "No kernel with known accesses at this place.", function(pattern)
    show_text(pattern.text .. pattern.summary, "")
  end)
end

local orders = {
  time = function(a, b) return a.total_us > b.total_us end,
  bytes = function(a, b) return M.bytes_of(a) > M.bytes_of(b) end,
  name = function(a, b) return a.name < b.name end,
}

function M.bytes_of(kernel)
  return kernel.bytes_needed * kernel.executions
end

-- Lists the kernels of the module in the quickfix list, sorted by time, bytes or name.
function M.heaviest_kernels(order)
  local params = { textDocument = vim.lsp.util.make_text_document_params(), limit = 1000 }
  local buffer = vim.api.nvim_get_current_buf()
  request("heaviestKernels", params, "There is no module here.", function(answer)
    if #answer.kernels == 0 then
      return vim.notify("No kernels: this module is not compiled for a GPU.")
    end
    table.sort(answer.kernels, orders[order] or orders.time)
    local items = vim.tbl_map(function(kernel)
      local text = ("%%%s  %s%.2f µs  %.1f %%  %s per run  %s"):format(
        kernel.name, kernel.is_at_least and "at least " or "", kernel.total_us, kernel.share * 100, kernel.traffic,
        kernel.bound)
      return { bufnr = buffer, lnum = kernel.at.start.line + 1, col = kernel.at.start.character + 1, text = text }
    end, answer.kernels)
    vim.fn.setqflist({}, " ", { title = answer.note, items = items })
    vim.cmd("botright copen")
  end)
end

-- Goes to a place in a stage: a file that may not be open yet.
local function go_to(uri, range)
  local server = client()
  local location = { uri = uri, range = range }
  vim.lsp.util.show_document(location, server and server.offset_encoding or "utf-16", { focus = true, reuse_win = false })
end

local NO_COMPILE = "This file is in no folder that XLA dumped."

-- Lets the user pick a stage of the compiles of the current file's folder: a compile, then a pass with what it changed.
function M.compiles()
  local here = { textDocument = vim.lsp.util.make_text_document_params() }
  local function pick_stage(folder, compile)
    local params = { textDocument = { uri = folder }, compile = compile.index }
    request("compiles", params, NO_COMPILE, function(found)
      local stages, uris = {}, {}
      for _, pipeline in ipairs(found.pipelines) do
        for _, stage in ipairs(pipeline.stages) do
          stage.pipeline = pipeline.name
          stages[#stages + 1] = stage
          uris[#uris + 1] = stage.uri
        end
      end
      request("stageChanges", { stages = uris }, NO_COMPILE, function(changes)
        local changed = {}
        for _, change in ipairs(changes) do
          changed[change.uri] = change
        end
        local shown = vim.tbl_filter(function(stage)
          local change = changed[stage.uri]
          return change and change.isChanged
        end, stages)
        local function label(stage)
          local pipeline = stage.pipeline ~= "" and stage.pipeline .. ": " or ""
          return ("%3d  %s%s  %s"):format(stage.index + 1, pipeline, stage.title, changed[stage.uri].summary)
        end
        vim.ui.select(shown, { prompt = compile.title, format_item = label }, function(stage)
          if stage then
            vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(stage.uri)))
          end
        end)
      end)
    end)
  end
  request("compiles", here, NO_COMPILE, function(found)
    for _, problem in ipairs(found.problems) do
      vim.notify(problem, vim.log.levels.WARN)
    end
    local function label(compile)
      return compile.title .. "  " .. compile.description .. (compile.problems[1] and "  ! " .. compile.problems[1] or "")
    end
    if #found.compiles == 1 then
      return pick_stage(found.folder, found.compiles[1])
    elseif #found.compiles == 0 then
      return vim.notify(NO_COMPILE)
    end
    vim.ui.select(found.compiles, { prompt = "Compile", format_item = label }, function(compile)
      if compile then
        pick_stage(found.folder, compile)
      end
    end)
  end)
end

-- Shows the current stage and the one before it as a diff, in a tab of its own. Only what the pass changed differs.
function M.compare_pass()
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  request("compareStages", params, "There is no earlier stage of this file.", function(found)
    vim.cmd("tabnew")
    for n, side in ipairs({ found.before, found.after }) do
      if n == 2 then
        vim.cmd("rightbelow vnew")
      end
      vim.bo.buftype = "nofile"
      vim.bo.bufhidden = "wipe"
      vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split((side.text:gsub("\n$", "")), "\n"))
      vim.b.hlo_analyzer_stage = side.uri
      -- The colours of HLO without its server: the text is no file.
      vim.bo.syntax = "hlo"
      vim.bo.modifiable = false
      vim.wo.winbar = vim.fs.basename(vim.uri_to_fname(side.uri))
      vim.cmd("diffthis")
    end
    if found.problem ~= vim.NIL and found.problem then
      vim.notify(found.problem, vim.log.levels.WARN)
    end
  end)
end

-- Goes to the next or the previous stage with another text, on the same instruction. `to` is "next" or "previous".
function M.step_pass(to)
  local params = vim.tbl_extend("error", place(), { to = to })
  request("stepStage", params, "There is no " .. to .. " pass.", function(found)
    go_to(found.uri, found.range)
    local note = found.note ~= vim.NIL and found.note
    vim.notify(note and found.title .. ": " .. note or found.title)
  end)
end

-- Lists the passes that changed the instruction under the cursor in the quickfix list.
function M.instruction_passes()
  request("instructionStages", place(), "No instruction of a compile is here.", function(found)
    local items = vim.tbl_map(function(stage)
      local start = stage.range.start
      return {
        filename = vim.uri_to_fname(stage.uri),
        lnum = start.line + 1,
        col = start.character + 1,
        text = stage.title .. ": " .. stage.what,
      }
    end, found.stages)
    vim.fn.setqflist({}, " ", { title = "Passes that changed %" .. found.instruction, items = items })
    vim.cmd("botright copen")
  end)
end

-- Changes settings of the running server.
local function configure(settings)
  local server = running()
  if server then
    server.notify("workspace/didChangeConfiguration", { settings = { ["hlo-analyzer"] = settings } })
  end
end

-- Selects the GPU that kernels are analysed for; asks for one if no name is given.
function M.select_device(name)
  if name and name ~= "" then
    return configure({ gpu = { device = name } })
  end
  request("status", vim.empty_dict(), "", function(status)
    local function label(device)
      return device.name .. (device.name == status.device and " (now)" or "") .. "  " .. device.description
    end
    vim.ui.select(status.devices, { prompt = "GPU", format_item = label }, function(device)
      if device then
        M.select_device(device.name)
      end
    end)
  end)
end

function M.status()
  request("status", vim.empty_dict(), "", function(status)
    local memory = status.memory ~= vim.NIL and (" · %.0f MB"):format(status.memory / 1e6) or ""
    vim.notify(("hlo-analyzer %s · %s%s"):format(status.version, status.device, memory))
  end)
end

-- Disables a warning until the server ends; the setting `warnings.disabled` is permanent.
function M.disable_warning(code)
  request("status", vim.empty_dict(), "", function(status)
    configure({ warnings = { disabled = vim.list_extend(status.disabled_warnings, { code }) } })
  end)
end

function M.restart()
  local buffers = vim.tbl_filter(is_module, vim.api.nvim_list_bufs())
  for _, server in ipairs(vim.lsp.get_clients({ name = "hlo-analyzer" })) do
    server.stop()
  end
  vim.defer_fn(function()
    for _, buffer in ipairs(buffers) do
      if vim.api.nvim_buf_is_loaded(buffer) then
        vim.api.nvim_exec_autocmds("FileType", { group = group, buffer = buffer })
      end
    end
  end, 500)
end

function M.setup(options)
  options = options or {}
  vim.filetype.add({
    extension = { hlo = "hlo", mlir = "mlir", ptx = "ptx" },
    pattern = {
      [".*before_optimizations%.txt"] = "hlo",
      [".*after_optimizations%.txt"] = "hlo",
      ["module_.*%.after_.*%.txt"] = "hlo",
    },
  })
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  local commands = {
    ["hlo-analyzer.showKernel"] = M.show_kernel,
    ["hlo-analyzer.showAccessPattern"] = M.access_pattern,
    ["hlo-analyzer.evaluateInstruction"] = M.evaluate,
    ["hlo-analyzer.disableWarning"] = M.disable_warning,
    ["hlo-analyzer.showReferences"] = function(_, _, locations)
      local server = client()
      local items = vim.lsp.util.locations_to_items(locations, server and server.offset_encoding or "utf-16")
      vim.fn.setqflist({}, " ", { title = "Callers", items = items })
      vim.cmd("botright copen")
    end,
  }
  capabilities.experimental = { commands = vim.tbl_keys(commands) }

  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = { "hlo", "mlir" },
    callback = function(args)
      -- Tabs of a kernel may be MLIR too, but the server of their module already fills them.
      if is_kernel(args.buf) then
        return
      end
      vim.lsp.start({
        name = "hlo-analyzer",
        cmd = options.cmd or { "hlo-analyzer" },
        root_dir = options.root_dir or vim.fs.dirname(args.file),
        capabilities = capabilities,
        init_options = options.settings,
        commands = vim.tbl_map(function(run)
          return function(command)
            run(unpack(command.arguments))
          end
        end, commands),
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
  vim.api.nvim_create_user_command("HloEvaluate", function(given)
    M.evaluate(nil, nil, given.args ~= "" and given.args or nil)
  end, { nargs = "?", complete = function() return { "zeros", "random", "iota" } end })
  vim.api.nvim_create_user_command("HloConvert", function() M.convert() end, {})
  vim.api.nvim_create_user_command("HloAccessPattern", function() M.access_pattern() end, {})
  vim.api.nvim_create_user_command("HloHeaviestKernels", function(command) M.heaviest_kernels(command.args) end, {
    nargs = "?",
    complete = function() return { "time", "bytes", "name" } end,
  })
  vim.api.nvim_create_user_command("HloCompiles", function() M.compiles() end, {})
  vim.api.nvim_create_user_command("HloComparePass", function() M.compare_pass() end, {})
  vim.api.nvim_create_user_command("HloNextPass", function() M.step_pass("next") end, {})
  vim.api.nvim_create_user_command("HloPreviousPass", function() M.step_pass("previous") end, {})
  vim.api.nvim_create_user_command("HloPassesOfInstruction", function() M.instruction_passes() end, {})
  vim.api.nvim_create_user_command("HloDevice", function(command) M.select_device(command.args) end, { nargs = "?" })
  vim.api.nvim_create_user_command("HloDisableWarning", function(command) M.disable_warning(command.args) end, { nargs = 1 })
  vim.api.nvim_create_user_command("HloStatus", function() M.status() end, {})
  vim.api.nvim_create_user_command("HloRestart", function() M.restart() end, {})
  vim.api.nvim_create_user_command("HloLog", function() vim.cmd.tabedit(vim.lsp.get_log_path()) end, {})
end

return M
