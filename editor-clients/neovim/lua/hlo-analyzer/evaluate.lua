-- The value of an instruction, and the module in the other language.

local server = require("hlo-analyzer.server")

local M = {}

-- The values that the user chose in the last evaluation.
local last_fill = nil
local BY_HAND = "values written by hand"

-- Shows the value of an instruction beside the module. `fill` gives the values of the parameters that it depends
-- on: "zeros", "random" or "iota". Without it the user chooses.
function M.evaluate(uri, position, fill)
  local params = vim.tbl_extend("error", server.place(uri, position), { summary = true })
  local function show(answer)
    if answer.text then
      server.show_text(answer.text, "text", "%" .. answer.instruction)
    else
      vim.notify("%" .. answer.instruction .. ": " .. answer.reason)
    end
  end
  local function evaluate(values)
    server.ask("evaluate", vim.tbl_extend("error", params, values), show)
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
  server.request("evaluate", params, "There is no instruction at this place.", function(asked)
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
  local params = server.document()
  server.request("convert", params, "There is nothing to convert in this file.", function(answer)
    server.show_text(answer.text, answer.language)
  end)
end

return M
