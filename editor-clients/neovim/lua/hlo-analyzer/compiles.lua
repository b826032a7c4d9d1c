-- The compiles of a dump folder: their passes, what each changed, and the way of an instruction through them.

local server = require("hlo-analyzer.server")

local M = {}

-- Goes to a place in a stage: a file that may not be open yet.
local function go_to(uri, range)
  vim.lsp.util.show_document({ uri = uri, range = range }, server.encoding(), { focus = true, reuse_win = false })
end

local NO_COMPILE = "This file is in no folder that XLA dumped."

-- Lets the user pick a stage of the compiles of the current file's folder: a compile, then a pass with what it changed.
function M.compiles()
  local here = server.document()
  local function pick_stage(folder, compile)
    local params = { textDocument = { uri = folder }, compile = compile.index }
    server.request("compiles", params, NO_COMPILE, function(found)
      local stages, uris = {}, {}
      for _, pipeline in ipairs(found.pipelines) do
        for _, stage in ipairs(pipeline.stages) do
          stage.pipeline = pipeline.name
          stages[#stages + 1] = stage
          uris[#uris + 1] = stage.uri
        end
      end
      server.request("stageChanges", { stages = uris }, NO_COMPILE, function(changes)
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
          return ("%s%s (%d of %d)  %s"):format(pipeline, stage.title, stage.index + 1, #stages, changed[stage.uri].summary)
        end
        vim.ui.select(shown, { prompt = compile.title, format_item = label }, function(stage)
          if stage then
            vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(stage.uri)))
          end
        end)
      end)
    end)
  end
  server.request("compiles", here, NO_COMPILE, function(found)
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
  server.request("compareStages", server.document(), "There is no earlier stage of this file.", function(found)
    vim.cmd("tabnew")
    for n, side in ipairs({ found.before, found.after }) do
      if n == 2 then
        server.split()
      end
      server.fill_scratch(side.text, "")
      vim.b.hlo_analyzer_stage = side.uri
      -- The colours of HLO without its server: the text is no file.
      vim.bo.syntax = "hlo"
      vim.bo.modifiable = false
      vim.wo.winbar = (n == 1 and "before: " or "after: ") .. "%<" .. vim.fs.basename(vim.uri_to_fname(side.uri))
      vim.cmd("diffthis")
    end
    -- From the first line: a difference there has none before it.
    vim.cmd("silent! normal! gg]c")
    if found.problem ~= vim.NIL and found.problem then
      vim.notify(found.problem, vim.log.levels.WARN)
    else
      vim.notify(found.title)
    end
  end)
end

-- Goes to the next or the previous stage with another text, on the same instruction. `to` is "next" or "previous".
function M.step_pass(to)
  local params = vim.tbl_extend("error", server.place(), { to = to })
  server.request("stepStage", params, "There is no " .. to .. " pass.", function(found)
    go_to(found.uri, found.range)
    local note = found.note ~= vim.NIL and found.note
    vim.notify(note and found.title .. ": " .. note or found.title)
  end)
end

-- Lists the passes that changed the instruction under the cursor in the quickfix list.
function M.instruction_passes()
  server.request("instructionStages", server.place(), "No instruction of a compile is here.", function(found)
    local items = vim.tbl_map(function(stage)
      local start = stage.range.start
      return {
        filename = vim.uri_to_fname(stage.uri),
        lnum = start.line + 1,
        col = start.character + 1,
        text = stage.title .. ": " .. stage.what,
      }
    end, found.stages)
    server.list("Passes that changed %" .. found.instruction, items)
  end)
end

-- Compiles the current module with the XLA of the Python that the setting `xla.python` names, and opens the optimised module.
function M.compile_with_xla()
  local params = server.document()
  vim.notify("XLA compiles " .. vim.fs.basename(vim.uri_to_fname(params.textDocument.uri)) .. " …")
  server.request("compileWithXla", params, "The server has not read this file.", function(found)
    if found.reason then
      return vim.notify("hlo-analyzer: " .. found.reason, vim.log.levels.ERROR)
    end
    vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(found.module)))
  end)
end

return M
