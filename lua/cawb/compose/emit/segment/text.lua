-- segment/text: sums of values that lie together by their keys. Results are numbered (o, place, i) as elements of a scan, i counting
-- packs of neighbours. A first launch finds where the keys of each place begin, by halving.

local lists = require "cawb.base.lists"
local template = require "cawb.compose.emit.template"

local M = {}

local ceil = template.ceil

---@class cawb.Segment: a description (template.lua), and
---@field type string       of the sums, in C
---@field outer integer     results in front of the axis
---@field places integer    along it
---@field inner integer     packs behind it
---@field vector integer    neighbours of a pack
---@field n integer         keys along the axis
---@field lines integer     keys in front of the axis
---@field behind integer    keys behind it
--- and its access functions: keys, values, where among all bounds that of a place is, and results.
local functions = {
  "long long key(INDEX o, int k, INDEX i)",
  "void load(T *v, INDEX o, int k, INDEX i)",
  "INDEX bound(INDEX o, int place, INDEX i)",
  "void store(INDEX o, int place, INDEX i, const T *sum)" }

local STRETCH = 32          -- terms of a sum that are added one after the other
local ALONE = 256           -- keys that may all be one thread's

--- The kernels. `how.lanes`: threads of a sum, a power of two below 32.
---@param d cawb.Segment
---@return table made  { text, launches }
function M.generate(d, how)
  local total, bounds = d.outer * d.places * d.inner, d.lines * (d.places + 1) * d.behind
  if total == 0 then return { text = "", launches = {} } end
  local lanes = how and how.lanes or d.n <= ALONE and 1 or 4
  local h = { T = d.type, LANES = lanes, VECTOR = d.vector, STRETCH = STRETCH, INDEX = template.index(math.max(total * d.vector, bounds)) }
  local list = lists.map(functions, function(declaration) return (declaration:gsub("INDEX", h.INDEX)) end)
  local room = { scratch = d.name .. "_starts", dtype = "int32", numel = bounds }
  local text = template.fill("segment/segment", d, h)
  return { text = template.complete(d, template.functions(d, list), text), launches = {
    template.launch(d, "_bounds", ceil(bounds, 256), 256, room, d.n, d.places, d.behind, bounds),
    template.launch(d, "", ceil(total, 256 // lanes), 256, room, d.places, d.inner, total) } }
end

return M
