-- merge: kernels whose texts differ only in names become one, under the first name. Kernels that run only before the first call, and in
-- long programs, as of nets of a hundred layers, all kernels, become one too where they differ only in whole numbers. These numbers are
-- parameters then: those that generators marked (ir/literal.lua), in a kernel ahead of the first call divisors too.

local lists = require "cawb.base.lists"
local literal = require "cawb.compose.ir.literal"
local replace = require "cawb.compose.ir.replace"

local M = {}

local MARK = "\1"                -- a kernel's own name

-- Bytes of all texts from which on numbers become parameters, too: below it a build takes a few seconds.
M.LONG = 600000

local function without_comments(text) return (("\n" .. text):gsub("\n%s*//[^\n]*", "")) end

local function without_indentation(text) return (text:gsub("\n%s+", "\n"):sub(2)) end

local GLOBAL = "__global__[^{;]-" .. MARK .. "([%w_]*)%("

-- Whether all launches of a text's kernels are before the first call.
local function is_ahead(kernel, marked)
  local own = {}
  for suffix in marked:gmatch(GLOBAL) do own[kernel.name .. suffix] = true end
  return lists.all(kernel.made.launches, function(launch) return not own[launch.kernel] or launch.prepare end)
end

-- A piece of a kernel's text: the text without comments, its numbers, and a key, with the tables in front, under which others are alike. A
-- function that is a template, a macro's or a table's has no parameters more.
local function piece_of(kernel, tables, text)
  local marked, front = replace.name(text, kernel.name, MARK), replace.name(tables, kernel.name, MARK)
  local ahead = is_ahead(kernel, marked)
  marked = literal.marked(without_comments(marked), ahead)
  if marked:find(MARK .. "[%w_]*<") or marked:find "#%s*define" or front:find(MARK .. "[%w_]*%(") then marked = literal.plain(marked) end
  return { kernel = kernel, original = text, marked = marked, ahead = ahead, values = literal.numbers(marked),
           key = front .. MARK .. without_indentation(literal.replaced(marked, function() return "#" end)) }
end

-- Which numbers differ within a group: a parameter for each list of values, and the parameter of each number.
local function parameters_of(group)
  local of, differing, by_list = {}, {}, {}
  for k = 1, #group[1].values do
    local values = lists.map(group, function(p) return p.values[k] end)
    local list, differs = table.concat(values, " "), lists.any(values, function(v) return v ~= values[1] end)
    if differs and not by_list[list] then
      differing[#differing + 1] = values
      by_list[list] = #differing
    end
    of[k] = differs and by_list[list] or nil
  end
  return of, differing
end

local function type_of(values) return lists.any(values, function(v) return v >= 1 << 31 end) and "long long" or "int" end

-- A line whose functions of the kernel's own get the parameters first. A definition begins a line at its start; elsewhere are calls.
local function extended(line, declared, passed)
  local more = line:find "^%S" and declared or passed
  return (line:gsub("(" .. MARK .. "[%w_]*%()(%s*%)?)", function(name, closes)
    local list = more
    more = passed
    return name .. list .. (closes:find "%)" and closes or ", " .. closes)
  end))
end

-- The text of a piece whose numbers are these parameters.
local function rewritten(p, of, differing)
  local declared = table.concat(lists.map(differing, function(values, n) return ("const %s c%d"):format(type_of(values), n) end), ", ")
  local passed = table.concat(lists.map(differing, function(_, n) return "c" .. n end), ", ")
  local text = literal.replaced(p.marked, function(k) return of[k] and "c" .. of[k] end)
  if #differing > 0 then text = text:gsub("[^\n]+", function(line) return extended(line, declared, passed) end) end
  return replace.word(without_indentation(text), MARK, p.kernel.name)
end

local function texts_of(made)
  if made.pieces then return made.pieces[1], { table.unpack(made.pieces, 2) } end
  return "", { made.text }
end

-- One text for a group, that of its first member; `becomes` gets the new launches of each kernel's functions.
local function join(group, becomes)
  local first = group[1]
  if #group == 1 then return end
  local of, differing = parameters_of(group)
  first.text = rewritten(first, of, differing)
  for n, p in ipairs(group) do
    if n > 1 then p.text = "" end
    local own = lists.map(differing, function(values) return values[n] end)
    for suffix in p.marked:gmatch(GLOBAL) do
      becomes[p.kernel.name .. suffix] = { name = first.kernel.name .. suffix, numbers = own }
    end
  end
end

-- Texts of kernels, from their pieces; tables stay where a piece does.
local function gather(list)
  for _, one in ipairs(list) do
    local words = lists.filter(lists.map(one.pieces, function(p) return p.text or p.original end), function(text) return text ~= "" end)
    if lists.any(one.pieces, function(p) return p.text end) then one.made.text = #words > 0 and one.tables .. "\n" .. table.concat(words, "\n") or nil end
  end
end

local function rename(kernels, becomes)
  for _, kernel in ipairs(kernels) do
    for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
      local to = becomes[launch.kernel]
      if to then
        launch.kernel = to.name
        launch.arguments = table.move(launch.arguments, 1, #launch.arguments, #to.numbers + 1, { table.unpack(to.numbers) })
      end
    end
  end
end

local function any_ahead(made) return lists.any(made.launches, function(launch) return launch.prepare end) end

--- Kernels that differ in whole numbers alone become one: `all`, or those that run only before the first call.
function M.alike(kernels, all)
  local list, pieces, becomes = {}, {}, {}
  for _, kernel in ipairs(kernels) do
    local made = kernel.made
    if made and made.text and (all or any_ahead(made)) then
      local tables, texts = texts_of(made)
      list[#list + 1] = { made = made, tables = tables, pieces = lists.map(texts, function(text) return piece_of(kernel, tables, text) end) }
      lists.append(pieces, list[#list].pieces)
    end
  end
  for _, group in ipairs(lists.groups(pieces, function(p) return (all or p.ahead) and p.key or p end)) do join(group, becomes) end
  gather(list)
  rename(kernels, becomes)
end

--- Kernels whose texts differ in their name alone become one.
function M.same(kernels)
  local first = {}
  for _, kernel in ipairs(kernels) do
    local made = kernel.made
    if made then
      local key = replace.name(made.text, kernel.name, "@")
      local name = first[key]
      first[key] = name or kernel.name
      if name then
        made.text, kernel.as = nil, name
        for _, launch in ipairs(made.launches) do
          launch.kernel = launch.kernel and launch.kernel:gsub("^" .. kernel.name, name)
        end
      end
    end
  end
end

local function bytes_of(kernels)
  return lists.sum(kernels, function(kernel) return #literal.plain(kernel.made and kernel.made.text or "") end)
end

--- Both, the second of all kernels where the texts are long; `from`: bytes from which on they are.
function M.apply(kernels, from)
  for _, kernel in ipairs(kernels) do kernel.written = kernel.made and kernel.made.text and literal.plain(kernel.made.text) or kernel.written end
  M.same(kernels)
  M.alike(kernels, bytes_of(kernels) > (from or M.LONG))
  for _, kernel in ipairs(kernels) do
    if kernel.made and kernel.made.text then kernel.made.text = literal.plain(kernel.made.text) end
  end
end

return M
