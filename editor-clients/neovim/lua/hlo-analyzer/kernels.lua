-- The kernel of an instruction as live buffers beside its module, the accesses of a warp, and the list of kernels.

local server = require("hlo-analyzer.server")

local M = {}

local marks = vim.api.nvim_create_namespace("hlo-analyzer-kernel")

-- Fills the buffer of a tab. The cursor and the window keep their positions.
function M.fill(buffer)
  local uri = vim.api.nvim_buf_get_name(buffer)
  server.ask("kernelContent", { uri = uri }, function(content)
    if not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((content.text:gsub("\n$", "")), "\n"))
    vim.bo[buffer].modifiable = false
    vim.bo[buffer].modified = false
    local client = server.client()
    -- Attaching tells the server that the buffer is shown; the server then keeps it up to date.
    if client and not vim.lsp.buf_is_attached(buffer, client.id) then
      vim.lsp.buf_attach_client(buffer, client.id)
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
  if server.is_kernel(buffer) then
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    server.ask("kernelSource", { uri = vim.api.nvim_buf_get_name(buffer), line = line }, function(source)
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
  elseif server.is_module(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
    local here = server.place()
    for _, window in ipairs(windows_of(server.is_kernel)) do
      local kernel = vim.api.nvim_win_get_buf(window)
      local params = { uri = vim.api.nvim_buf_get_name(kernel), position = here.position }
      server.ask("kernelLines", params, function(answer)
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
  server.request("showKernel", server.place(uri, position), "There is no kernel at this place.", function(kernel)
    local from = vim.api.nvim_get_current_win()
    local window = windows_of(server.is_kernel)[1]
    if window then
      vim.api.nvim_set_current_win(window)
    else
      server.split()
    end
    for n = #kernel.tabs, 1, -1 do
      -- With fewer slashes Neovim takes the name for a file in the current folder.
      local name = kernel.tabs[n].uri:gsub("^(.-):/+", "%1:///")
      vim.cmd.edit(vim.fn.fnameescape(name))
      -- The name of the buffer is of use to the server alone.
      vim.b.hlo_analyzer_title = "%" .. kernel.instruction .. " · " .. kernel.tabs[n].title
      vim.wo.winbar = "%{get(b:,'hlo_analyzer_title','')}"
    end
    vim.api.nvim_set_current_win(from)
    M.follow()
  end)
end

-- Shows the lanes of a warp on memory, as text.
function M.access_pattern(uri, position)
  server.request("accessPattern", server.place(uri, position), "No kernel with known accesses at this place.", function(pattern)
    server.show_text(pattern.text .. pattern.summary, "", "access pattern")
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
  local params = vim.tbl_extend("error", server.document(), { limit = 1000 })
  local buffer = vim.api.nvim_get_current_buf()
  server.request("heaviestKernels", params, "There is no module here.", function(answer)
    if #answer.kernels == 0 then
      return vim.notify("No kernels: this module is not compiled for a GPU.")
    end
    table.sort(answer.kernels, orders[order] or orders.time)
    local items = vim.tbl_map(function(kernel)
      local text = ("%%%s  %s%.2f µs  %.1f %%  %s per run  %s"):format(
        kernel.name, kernel.is_at_least and "≥ " or "", kernel.total_us, kernel.share * 100, kernel.traffic,
        kernel.bound)
      return { bufnr = buffer, lnum = kernel.at.start.line + 1, col = kernel.at.start.character + 1, text = text }
    end, answer.kernels)
    server.list(answer.note, items)
  end)
end

return M
