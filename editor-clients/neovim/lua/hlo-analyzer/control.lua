-- Controls the running server: its device, its warnings, its end and new start.

local server = require("hlo-analyzer.server")

local M = {}

-- Changes settings of the running server.
local function configure(settings)
  local client = server.running()
  if client then
    server.call(client, "notify", "workspace/didChangeConfiguration", { settings = { ["hlo-analyzer"] = settings } })
  end
end

-- Selects the GPU that kernels are analysed for; asks for one if no name is given.
function M.select_device(name)
  if name and name ~= "" then
    return configure({ gpu = { device = name } })
  end
  server.request("status", vim.empty_dict(), "", function(status)
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
  server.request("status", vim.empty_dict(), "", function(status)
    local memory = status.memory ~= vim.NIL and (" · %.0f MB"):format(status.memory / 1e6) or ""
    vim.notify(("hlo-analyzer %s · %s%s"):format(status.version, status.device, memory))
  end)
end

-- Disables a warning until the server ends; the setting `warnings.disabled` is permanent.
function M.disable_warning(code)
  server.request("status", vim.empty_dict(), "", function(status)
    configure({ warnings = { disabled = vim.list_extend(status.disabled_warnings, { code }) } })
  end)
end

function M.restart()
  local buffers = vim.tbl_filter(server.is_module, vim.api.nvim_list_bufs())
  for _, client in ipairs(vim.lsp.get_clients({ name = "hlo-analyzer" })) do
    server.call(client, "stop")
  end
  vim.defer_fn(function()
    for _, buffer in ipairs(buffers) do
      if vim.api.nvim_buf_is_loaded(buffer) then
        vim.api.nvim_exec_autocmds("FileType", { buffer = buffer })
      end
    end
  end, 500)
end

return M
