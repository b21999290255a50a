-- factors: how the threads of a tile read both factors of a product: in which order, and how many neighbours at a time.

local template = require "cawb.compose.emit.template"

local M = {}

-- `side` is "A" with its rows or "B" with its columns.
local function reader(h, side, size, along_k, wide)
  local inner = along_k and h.TK or size
  local packs = inner // wide
  local fast, slow = ("(e %% %d * %d)"):format(packs, wide), ("(e / %d)"):format(packs)
  h["ROW" .. side], h["COL" .. side] = along_k and slow or fast, along_k and fast or slow
  h["JROW" .. side], h["JCOL" .. side] = along_k and "0" or "j", along_k and "j" or "0"
  h["HELD" .. side], h["WIDE" .. side] = size * h.TK // h.EACH, wide
end

-- Four at a time where the tile has enough of them for all threads.
local function wide_of(d, h, text, along, size)
  local ok = text and d[along] % 4 == 0 and size * h.TK // h.EACH >= 4
  return ok and 4 or 1
end

--- Reads of a product's description (product.lua) as holes, by those of the tile: TM, TN, TK, and EACH threads, this one being `thread`.
function M.read(d, h, thread)
  local along_a, along_b = d.along_a or "k", d.along_b or "n"
  reader(h, "A", h.TM, along_a == "k", wide_of(d, h, d.a4, along_a, h.TM))
  reader(h, "B", h.TN, along_b == "k", wide_of(d, h, d.b4, along_b, h.TN))
  local pass = template.names(d.parameters)
  h.LOADA = h.WIDEA == 4 and ("%s_a4(%s, v, z, m, k);"):format(d.name, pass) or ("v[0] = %s_a(%s, z, m, k);"):format(d.name, pass)
  h.LOADB = h.WIDEB == 4 and ("%s_b4(%s, v, z, k, n);"):format(d.name, pass) or ("v[0] = %s_b(%s, z, k, n);"):format(d.name, pass)
  h.THREAD = thread
  h.FACTORS = template.fill("product/factors", d, h)
end

return M
