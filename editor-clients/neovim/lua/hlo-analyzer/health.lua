-- `:checkhealth hlo-analyzer`

local M = {}

local health = vim.health

local function check_program(program)
  local path = vim.fn.exepath(program)
  if path == "" then
    health.error(program .. " is not on PATH", {
      "Install the server, or name it: require(\"hlo-analyzer\").setup({ cmd = { \"/path/to/hlo-analyzer\" } })",
    })
    return
  end
  local said = vim.system({ path, "--version" }, { text = true }):wait(5000)
  if said.code == 0 then
    health.ok(vim.trim(said.stdout) .. " (" .. path .. ")")
  else
    health.error(path .. " --version failed with status " .. said.code .. ": " .. vim.trim(said.stderr or ""))
  end
end

local function check_server()
  local client = require("hlo-analyzer.server").client()
  if not client then
    health.info("the server is not running: it starts when a .hlo or .mlir file, or a dump of XLA, is opened")
    return
  end
  local answer = require("hlo-analyzer.server").call(client, "request_sync", "hlo-analyzer/status", vim.empty_dict(), 5000)
  local status = answer and answer.result
  if not status then
    health.error("the server does not answer", { "See :HloLog, then :HloRestart" })
    return
  end
  health.ok(("the server runs with process id %d and has %d open documents"):format(status.pid, status.documents))
  health.info("kernels are analysed for " .. status.device .. "; :HloDevice selects another GPU")
  if status.ptxas then
    health.ok("ptxas is found: kernels show registers, spills and SASS")
  else
    health.info("ptxas is not found: kernels are shown without registers and SASS")
  end
end

function M.check()
  health.start("hlo-analyzer")
  if vim.fn.has("nvim-0.10") == 0 then
    health.error("Neovim is older than 0.10")
    return
  end
  local client = require("hlo-analyzer.server").client()
  local configured = vim.fn.has("nvim-0.11") == 1 and vim.lsp.config["hlo-analyzer"].cmd or { "hlo-analyzer" }
  check_program((client and client.config.cmd or configured)[1])
  check_server()
end

return M
