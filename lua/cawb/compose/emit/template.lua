-- template: kernels as text with holes. A template is a file .cu of its family. In it $WORD is a constant or a name that the
-- generator gives. The lines from `$if WORD` to `$end` may be left out, and so may a line behind `$if WORD:` or `$if !WORD:`.
-- `$word(` calls an access function, which reads or writes an element of the graph's tensors and is inlined by the compiler. So a
-- template knows how work is divided, and nothing of the work around it. UNROLL ahead of a loop has it unrolled.
--
-- Every generator here gets a description. It has
--   name        of the kernel; all names that it defines begin with it
--   parameters  { "const float *__restrict__ x1", ... }: C, the first arguments of its kernels. Each name is a letter and a number;
--               no variable of a template is named so
--   arguments   { ... }: the same in launches, passed through unread
-- and the bodies of its access functions: C statements, with the variables that the generator names; sizes, in elements; and
-- options, which have defaults.

local core = require "cawb.core"
local file = require "cawb.base.file"
local lists = require "cawb.base.lists"

local M = {}

local function read(name)
  return assert(file.read(("%s/lua/cawb/compose/emit/%s.cu"):format(core.home, name)))
end

--- The parameters' names, as a call passes them on: the last word of each declaration.
function M.names(parameters)
  return table.concat(lists.map(parameters, function(declaration)
    return declaration:match "[^%w_](%l%d+)$" or error(("the parameter '%s' is not named as x1 is"):format(declaration), 0)
  end), ", ")
end

--- An access function: { its name, C }. `result` is its type, `variables` its parameters behind the kernel's.
function M.access(kernel, what, result, variables, body)
  local all = lists.joined(kernel.parameters, variables)
  local text = ("static __device__ __forceinline__ %s %s_%s(%s) {\n  %s\n}\n"):format(result, kernel.name, what,
    table.concat(all, ", "), (body:gsub("\n", "\n  ")))
  return { what, text }
end

--- The access functions of a description, by what it has of these declarations: "float load(int z, int k)"; `T` is its own type.
function M.functions(d, declarations)
  local list = {}
  for _, declaration in ipairs(declarations) do
    local result, what, variables = declaration:gsub("%f[%w]T%f[%W]", d.type or "T"):match "^(.-) ?([%w_]+)%((.*)%)$"
    if d[what] then list[#list + 1] = M.access(d, what, result, { variables }, d[what]) end
  end
  return list
end

-- Lines between "$if WORD" and "$end" stay where the word has a value, those behind "$else" where it has none. The innermost come first.
local function chosen(text, holes)
  text = text:gsub("%$if (!?)(%u[%u%d]*): ([^\n]*\n)", function(no, word, line) return (not holes[word]) == (no == "!") and line or "" end)
  while true do
    local stop, last = text:find("$end\n", 1, true)
    if not stop then return text end
    local front, word, lines = text:sub(1, stop - 1):match "^(.*)%$if (%u[%u%d]*)\n(.-)$"
    local yes, no = lines:match "^(.-)%$else\n(.*)$"
    text = front .. (holes[word] and (yes or lines) or not holes[word] and no or "") .. text:sub(last + 1)
  end
end

--- A text with the access functions that it calls in front, or in the place of its line $FUNCTIONS. `list`: results of M.access, each
--- function ahead of the functions that call it.
function M.complete(kernel, list, text)
  local front, behind = text:match("^(.-)%$FUNCTIONS\n(.*)$")
  text = behind or text
  for k = #list, 1, -1 do
    local what, code = table.unpack(list[k])
    if text:find(("%s_%s("):format(kernel.name, what), 1, true) then text = code .. "\n" .. text end
  end
  return (front or "") .. text
end

--- C whose access functions are called as in a template, with a dollar ahead of their names.
function M.called(kernel, text)
  local pass = M.names(kernel.parameters)
  return (text:gsub("%$(%l[%l%d_]*)%(", function(what) return ("%s_%s(%s, "):format(kernel.name, what, pass) end))
end

--- The template with its holes filled: `holes` by name, text or number. NAME, PARAMETERS and PASS (the parameters' names, for calls)
--- come from the kernel, and $FUNCTIONS stays for M.complete. A hole without a value raises.
function M.fill(name, kernel, holes)
  local pass = M.names(kernel.parameters)
  local own = { NAME = kernel.name, PARAMETERS = table.concat(kernel.parameters, ", "), PASS = pass, FUNCTIONS = "$FUNCTIONS" }
  local text = M.called(kernel, chosen(read(name), holes))
  return (text:gsub("%$(%u[%u%d]*)", function(hole)
    local value = own[hole]
    if value == nil then value = holes[hole] end
    if value == nil then error(("template %s: nothing for $%s"):format(name, hole), 0) end
    return tostring(value)
  end))
end

--- The type of element numbers below n.
function M.index(n) return n < 2 ^ 31 and "int" or "long long" end

--- The arguments of a launch: the kernel's, then these.
function M.arguments(kernel, ...) return lists.joined(kernel.arguments, { ... }) end

--- A launch of the kernel `suffix` of a description: so many blocks of so many threads, and further arguments.
function M.launch(d, suffix, blocks, threads, ...)
  return { kernel = d.name .. suffix, grid = { blocks }, block = { threads }, arguments = M.arguments(d, ...) }
end

function M.power_above(n)
  local p = 1
  while p < n do p = p * 2 end
  return p
end

function M.ceil(a, b) return (a + b - 1) // b end

return M
