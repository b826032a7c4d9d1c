-- What all commands need: requests to the server, scratch windows, lists.

local M = {}

M.SCHEME = "hlo-analyzer-kernel:"

function M.client()
  return vim.lsp.get_clients({ name = "hlo-analyzer" })[1]
end

-- Returns the server for a command; shows a message if there is none.
function M.running()
  local server = M.client()
  if not server then
    vim.notify("The hlo-analyzer server is not running. See :checkhealth hlo-analyzer", vim.log.levels.ERROR)
  end
  return server
end

-- Calls a method of a client. Neovim 0.10 has them as plain functions, 0.11 deprecates those.
function M.call(server, method, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return server[method](server, ...)
  end
  return server[method](...)
end

-- Whether a buffer shows a module rather than a kernel.
function M.is_module(buffer)
  local filetype = vim.bo[buffer].filetype
  return (filetype == "hlo" or filetype == "mlir") and vim.bo[buffer].buftype == ""
end

function M.is_kernel(buffer)
  return vim.startswith(vim.api.nvim_buf_get_name(buffer), M.SCHEME)
end

-- Returns a buffer that the server knows: the current one if possible.
local function buffer_of(server)
  local here = vim.api.nvim_get_current_buf()
  return server.attached_buffers[here] and here or next(server.attached_buffers)
end

local function send(server, method, params, answered)
  M.call(server, "request", "hlo-analyzer/" .. method, params, answered, buffer_of(server))
end

-- Sends a request that the user does not wait for: failures and empty responses are silent.
function M.ask(method, params, answered)
  local server = M.client()
  if server then
    send(server, method, params, function(failure, answer)
      if not failure and answer and answer ~= vim.NIL then
        answered(answer)
      end
    end)
  end
end

-- Sends a request that the user waits for. Shows the message `nothing` if the response is empty.
function M.request(method, params, nothing, answered)
  local server = M.running()
  if not server then
    return
  end
  send(server, method, params, function(failure, answer)
    if failure then
      vim.notify("hlo-analyzer: " .. failure.message, vim.log.levels.ERROR)
    elseif not answer or answer == vim.NIL then
      vim.notify(nothing)
    else
      answered(answer)
    end
  end)
end

-- Returns the document and position given by an action, or those of the cursor.
function M.place(uri, position)
  local here = vim.lsp.util.make_position_params(0, M.encoding())
  return { textDocument = { uri = uri or here.textDocument.uri }, position = position or here.position }
end

function M.document()
  return { textDocument = vim.lsp.util.make_text_document_params() }
end

function M.encoding()
  local server = M.client()
  return server and server.offset_encoding or "utf-16"
end

-- Fills the current window with a scratch buffer that ends with the window.
function M.fill_scratch(text, filetype)
  vim.bo.buftype = "nofile"
  vim.bo.bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split((text:gsub("\n$", "")), "\n"))
  vim.bo.filetype = filetype
  vim.bo.modified = false
end

-- Splits side by side where both halves can show a line of HLO up to its operands, else one above the other.
function M.split()
  vim.cmd(vim.o.columns >= 120 and "botright vnew" or "botright new")
end

function M.show_text(text, filetype, title)
  M.split()
  M.fill_scratch(text, filetype)
  vim.wo.winbar = title and (title:gsub("%%", "%%%%")) or ""
end

-- Shows a list of places. Its lines are the texts alone: a dump's file names leave no room for them.
function M.list(title, items)
  vim.fn.setqflist({}, " ", {
    title = title,
    items = items,
    quickfixtextfunc = function(info)
      local listed = vim.fn.getqflist({ id = info.id, items = 0 }).items
      return vim.tbl_map(function(item) return item.text end, vim.list_slice(listed, info.start_idx, info.end_idx))
    end,
  })
  vim.cmd("botright copen")
  vim.wo.wrap = false
end

return M
