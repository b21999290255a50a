-- redteam_file: a file of tests/judge/cheats/tier2, which holds one class of Python cheats. Its head has defaults of fields,
-- and code that its fixtures share: imports, functions, a class. Then come the fixtures:
--   # ---- NAME: what it does   the name's first word is its family, as in redteam_python.lua
--   # FIELD: value              `task`; of a cheat `met by` and `caught by: LAYER: how` (rules, judge, jail, numbers); of an
--                               honest look-alike `looks like`, the cheats that it resembles; `device`, if only one
--   the candidate, in Python    It gets what it uses of the head and does not define. A `def forward(self, ...)` at the
--                               left, and all below it, is put into the head's class ModelNew, or into an empty one.

local file = require "cawb.base.file"

local M = {}

-- The head of a file and a list of its fixtures, each { fields =, lines = }. A fixture has `title`, too.
local function parts_of(text)
  local head = { fields = {}, lines = {} }
  local part, list = head, {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    local title, key, value = line:match "^# %-%-%-%- *(.*)$", line:match "^# (%l[%l ]*): (.+)$"
    if title then
      part = { title = title, fields = {}, lines = {} }
      list[#list + 1] = part
    elseif key and #part.lines == 0 then
      part.fields[key] = value
    elseif part ~= head or line:find "^[^#]" then
      part.lines[#part.lines + 1] = line
    end
  end
  return head, list
end

-- The code of a head by what it defines: { name =, class = whether it is one, lines = }; or nil, message.
local function definitions_of(lines)
  local list = {}
  for _, line in ipairs(lines) do
    local kind, name = line:match "^(%l+) ([%a_][%w_]*)"
    if name then
      list[#list + 1] = { name = name, class = kind == "class", lines = { line } }
    elseif list[1] and line:find "^ " then
      table.insert(list[#list].lines, line)
    else
      return nil, ("its head has imports, functions and a class, not '%s'"):format(line)
    end
  end
  return list
end

local function append(list, lines) return table.move(lines, 1, #lines, #list + 1, list) end

local function is_import(line) return line and (line:find "^import " or line:find "^from ") end

-- The imports that code begins with, and the rest of it.
local function imports_first(lines)
  local count = 0
  while is_import(lines[count + 1]) do count = count + 1 end
  return { table.unpack(lines, 1, count) }, { table.unpack(lines, count + 1) }
end

-- Code with a `def forward` at the left, and what is below, in its class.
local function in_class(lines, definitions)
  local class, list, indent = { "class ModelNew(torch.nn.Module):" }, {}, ""
  for _, d in ipairs(definitions) do
    if d.class then class = d.lines end
  end
  for _, line in ipairs(lines) do
    if line:find "^def forward%(self" then
      append(list, class)
      indent = "    "
    end
    list[#list + 1] = indent .. line
  end
  return list
end

-- The whole text of a candidate, or nil where it has no model.
local function text_of(lines, definitions)
  local list, body = imports_first(lines)
  body = in_class(body, definitions)
  local own = ("\n%s\n%s\n"):format(table.concat(list, "\n"), table.concat(body, "\n"))
  if not own:find "\nclass ModelNew%(" then return nil end
  for _, d in ipairs(definitions) do
    local uses = own:find("%f[%w_]" .. d.name .. "%f[^%w_]")
    if uses and not d.class and not own:find("\n" .. d.lines[1] .. "\n", 1, true) then append(list, d.lines) end
  end
  return table.concat(append(list, body), "\n") .. "\n"
end

-- The fields of a fixture, those of the head where it has none; or nil, message.
local function fields_of(given, defaults)
  local fields = { device = given.device or defaults.device }
  for _, key in ipairs(given["looks like"] and { "task", "looks like" } or { "task", "met by", "caught by" }) do
    fields[key] = given[key] or defaults[key]
    if not fields[key] then return nil, ("it has no line '# %s: ...'"):format(key) end
  end
  for key in pairs(given) do
    if not fields[key] then return nil, ("'%s' is no field of it"):format(key) end
  end
  return fields
end

local function fixture_of(part, head, definitions)
  local name, what = part.title:match "^([%w_]+): (.+)$"
  if not name then return nil, "a fixture begins with '# ---- NAME: what it does'" end
  local fields, message = fields_of(part.fields, head.fields)
  if not fields then return nil, message end
  fields.what = what
  local text = text_of(part.lines, definitions)
  if not text then return nil, "it has neither a class ModelNew nor a forward(self, ...) at the left" end
  return { name = name, head = fields, python = text }
end

--- The fixtures of a file, each { name =, head = its fields and `what`, python = its text }; or nil, message.
function M.read(path)
  local text, message = file.read(path)
  if not text then return nil, message end
  local head, parts = parts_of(text)
  local definitions
  definitions, message = definitions_of(head.lines)
  if not definitions then return nil, ("%s: %s"):format(path, message) end
  local list = {}
  for i, part in ipairs(parts) do
    list[i], message = fixture_of(part, head, definitions)
    if not list[i] then return nil, ("%s: %s: %s"):format(path, part.title, message) end
  end
  return list
end

return M
