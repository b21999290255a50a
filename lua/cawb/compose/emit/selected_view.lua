-- selected_view: a concatenation in a kernel of rows, if each row lies in one of its tensors. The kernel finds once for each row in which
-- tensor it lies, where it begins, and how far apart its elements are. Then it loads as from one tensor, also by packs. Otherwise
-- every element would look for its tensor again.

local bodies = require "cawb.compose.emit.body"
local index = require "cawb.compose.ir.index"
local lists = require "cawb.base.lists"
local views = require "cawb.compose.ir.view"
local types = require "cawb.torch.types"

local M = {}

local row_alone = { row = true }

-- The tensor behind a piece, and the place in it; nil if the piece is computed.
local function source(body, node, piece, i)
  local x, j = views.below(node.inputs[piece.input], views.at(piece, i), function(y) return y.stored end)
  local lies = x.stored or x.kind == "leaf" and x.strides
  if not lies or body.inside[x] or x.dtype ~= node.dtype then return nil end
  local place = index.place(j, x.strides, x.offset)
  return index.only(place, body.selecting) and { node = x, place = place }
end

-- C of whether a piece holds the row; nil if more than the row decides.
local function condition(piece, i)
  local doubtful = lists.filter(views.guards(piece, i), function(e) return e.lo < 0 end)
  local is_alone = lists.all(doubtful, function(e) return index.only(e, row_alone) end)
  return is_alone and table.concat(lists.map(doubtful, function(e) return index.c(e) .. " >= 0" end), " && ") or nil
end

-- All pieces that may hold: { node, place, words }. `possible` as view has it.
local function sources(body, node, possible, i)
  local list = {}
  for k, one in ipairs(possible) do
    local found, words = source(body, node, one.piece, i), condition(one.piece, i)
    if not found or not words then return nil end
    found.words, list[k] = words, found
  end
  return list
end

local function factor(place, key)
  local term = lists.first(place.terms, function(t) return t[1].key == key end)
  return term and term[2] or 0
end

-- Terms that all places have alike, as an expression, and the atoms of the others, in order.
local function parted(list)
  local common, others, seen = {}, {}, {}
  for _, s in ipairs(list) do
    for _, t in ipairs(s.place.terms) do
      local key = t[1].key
      local same = lists.all(list, function(other) return factor(other.place, key) == t[2] end)
      if not seen[key] then table.insert(same and common or others, same and t or t[1]) end
      seen[key] = true
    end
  end
  return index.sum(list[1].place.base, common), others
end

-- C of the value of the piece that holds, of one for each.
local function pick(list, values)
  local text = values[#list]
  for k = #list - 1, 1, -1 do
    if values[k] ~= values[k + 1] or text ~= values[k + 1] then text = ("%s ? %s : %s"):format(list[k].words, values[k], text) end
  end
  return text
end

-- A number for each piece, as C, and whether packs of v are a whole number of all.
local function numbers(list, of, v)
  return lists.map(list, function(s) return tostring(of(s)) end), lists.all(list, function(s) return of(s) % v == 0 end)
end

-- The variables for these pieces, ahead of all loops: { text, packs }, text being C of the address of element zero.
local function begin(body, node, list, others)
  local name, v, base = body:name "from", body.vector, list[1].place.base
  local packs, long, pointers = true, false, {}
  for k, s in ipairs(list) do
    local ahead = s.place.base - base
    pointers[k] = ahead == 0 and body:tensor(s.node) or ("%s %s %d"):format(body:tensor(s.node), ahead < 0 and "-" or "+", math.abs(ahead))
    packs, long = packs and ahead % v == 0 and bodies.extent(s.node) % v == 0, long or index.is_long(s.place)
  end
  body.early[#body.early + 1] = ("const %s *const %s = %s;"):format(types.memory(node.dtype), name, pick(list, pointers))
  local text = name
  for _, atom in ipairs(others) do
    local values, whole = numbers(list, function(s) return factor(s.place, atom.key) end, v)
    local step = body:name "step"
    body.early[#body.early + 1] = ("const %s %s = %s;"):format(long and "long long" or "int", step, pick(list, values))
    text, packs = ("%s + %s * (%s)"):format(text, step, index.c(index.sum(0, { { atom, 1 } }))), packs and whole
  end
  return { text = "(" .. text .. ")", packs = packs }
end

--- C of a view's element at i, loaded from the tensor that its row is in; nil where it is none of these. `possible`: its
--- pieces that may hold.
function M.load(body, node, possible, i)
  local list = body.selecting and body.guarded == 0 and #possible > 1 and sources(body, node, possible, i)
  if not list then return nil end
  local common, others = parted(list)
  local words = { tostring(node.id) }
  for _, s in ipairs(list) do words[#words + 1] = ("%s@%d:%d"):format(s.words, s.node.id, s.place.base - common.base) end
  for _, atom in ipairs(others) do words[#words + 1] = atom.key end
  local key = table.concat(words, ";")
  local from = body.selected[key] or begin(body, node, list, others)
  body.selected[key] = from
  return body:load_from(from.text, from.packs, node.dtype, common)
end

return M
