-- hlo-analyzer for Neovim 0.10 and newer: starts the server for HLO and MLIR, and shows kernels as live buffers.
--
--   require("hlo-analyzer").setup({ cmd = { "hlo-analyzer" }, settings = { gpu = { device = "a100-sxm-80" } } })
--
-- The code action "Show kernel", a code lens or :HloShowKernel opens the kernel of the instruction under the cursor
-- beside it. The README lists the other commands; `plugin/hlo-analyzer.lua` defines them.

local server = require("hlo-analyzer.server")
local kernels = require("hlo-analyzer.kernels")
local evaluate = require("hlo-analyzer.evaluate")
local control = require("hlo-analyzer.control")

local M = {}

-- The commands that the server's code actions and lenses name, which need this client.
local commands = {
  ["hlo-analyzer.showKernel"] = kernels.show_kernel,
  ["hlo-analyzer.showAccessPattern"] = kernels.access_pattern,
  ["hlo-analyzer.evaluateInstruction"] = evaluate.evaluate,
  ["hlo-analyzer.disableWarning"] = control.disable_warning,
  ["hlo-analyzer.showReferences"] = function(_, _, locations)
    vim.fn.setqflist({}, " ", {
      title = "Callers",
      items = vim.lsp.util.locations_to_items(locations, server.encoding()),
    })
    vim.cmd("botright copen")
  end,
}

-- Returns the configuration of the client, for `vim.lsp.config` and `vim.lsp.start`.
function M.config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { commands = vim.tbl_keys(commands) }
  -- Neovim asks for the diagnostics of a buffer after edits alone, and not when the server says that a setting has changed them.
  -- Without this promise it is sent them instead.
  capabilities.workspace.diagnostics = { refreshSupport = false }
  return {
    name = "hlo-analyzer",
    cmd = { "hlo-analyzer" },
    filetypes = { "hlo", "mlir" },
    capabilities = capabilities,
    commands = vim.tbl_map(function(run)
      return function(command)
        run(unpack(command.arguments))
      end
    end, commands),
    handlers = {
      ["hlo-analyzer/kernelChanged"] = function(_, params)
        local buffer = vim.fn.bufnr("^" .. vim.fn.escape(params.uri, "\\*?[]{}~$") .. "$")
        if buffer >= 0 then
          kernels.fill(buffer)
        end
      end,
    },
    -- One server for all folders: stages of one compile and their source files are in several.
    reuse_client = function(running) return running.name == "hlo-analyzer" end,
  }
end

-- Starts the server for each module that is opened. `options` has `cmd`, `root_dir` (by default the folder of the
-- file) and `settings`, all optional.
function M.setup(options)
  options = options or {}
  -- Already done, unless the plugin's folder was added after Neovim had started.
  vim.cmd.runtime("plugin/hlo-analyzer.lua")
  local given = { cmd = options.cmd, init_options = options.settings }
  if vim.fn.has("nvim-0.11") == 1 then
    given.root_dir = options.root_dir
    -- The rest comes from `lsp/hlo-analyzer.lua`.
    vim.lsp.config("hlo-analyzer", given)
    vim.lsp.enable("hlo-analyzer")
    return
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("hlo-analyzer-start", {}),
    pattern = { "hlo", "mlir" },
    callback = function(args)
      if server.is_module(args.buf) then
        local config = vim.tbl_extend("force", M.config(), given)
        config.root_dir = options.root_dir or vim.fs.dirname(args.file)
        vim.lsp.start(config, { reuse_client = config.reuse_client })
      end
    end,
  })
end

return M
