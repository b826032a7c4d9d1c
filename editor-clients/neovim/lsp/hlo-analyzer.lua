-- For `vim.lsp.enable("hlo-analyzer")` of Neovim 0.11 and newer.

local config = require("hlo-analyzer").config()
config.root_dir = function(buffer, found)
  found(vim.fs.dirname(vim.api.nvim_buf_get_name(buffer)))
end
return config
