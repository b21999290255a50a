-- fidelity: how a simulated device executes each instruction of a PTX text: exactly, by a model, approximately, or not at all.
-- Instructions are counted where they are written, each once. docs/explain/simulator.md has the table.

local M = {}

--- What is not exact: { class, what, why, of = function(opcode, operands, about) }. The first row that fits counts. `about` has the
--- device's `arch` and, by register, which products without a rounding of their own it holds.
M.table = {
  { "approximate", "`.approx`, `.full`", "within the error that the PTX manual states; a GPU's last bits may be others",
    of = function(op) return op:find("%.approx%f[%W]") or op:find("%.full%f[%W]") end },
  { "modelled", "`%clock`, `%globaltimer`, `%smid`, `%warpid`, `nanosleep`", "time, and where blocks run, are the model's",
    of = function(op, operands)
      return op:find "^nanosleep" or operands:find "%%clock" or operands:find "%%globaltimer" or operands:find "%%smid" or operands:find "%%warpid"
    end },
  { "modelled", "`atom` and `red` that add floats", "the order of the sums is one of those that a GPU may have",
    of = function(op) return (op:find "^atom%." or op:find "^red%.") and op:find "%.add%.[%w.]*b?f%d" end },
  { "modelled", "`mma.sp`", "the order of its sums was not compared with a GPU's", of = function(op) return op:find "^mma%.sp" end },
  { "modelled", "`mma` of 8-bit floats", "it is two products of float16", of = function(op) return op:find "^mma%." and op:find "%.e[45]m%d" end },
  { "modelled", "`mma`, `wmma`, `wgmma` where the device is no H100 or H200", "the sums are those of an H100's tensor cores",
    of = function(op, _, about)
      return not about.arch:find "^sm_90" and (op:find "^w?mma%." or op:find "^wgmma%.mma")
    end },
  { "modelled", "`add` and `sub` of a product without `.rn`", "product and sum are rounded one by one; the assembler may fuse them",
    of = function(op, operands, about)
      if not op:find "^add%.[%l.]*f%d" and not op:find "^sub%.[%l.]*f%d" or op:find "%.r[nzmp]" then return false end
      local _, sources = operands:match "^%s*([^,]*),(.*)$"
      for register in (sources or ""):gmatch "%%[%w_]+" do if about.products[register] then return true end end
      return false
    end },
  { "modelled", "`prefetch`, `createpolicy`, `discard`, `applypriority`", "hints to caches: without effect here",
    of = function(op) return op:find "^prefetch" or op:find "^createpolicy" or op:find "^discard" or op:find "^applypriority" end },
}

-- Families that are refused in some shapes only (core/sim/read/refuse.c): the one that is stops the kernel, which says so.
local partly = { ["mma."] = true, ["mma.sp"] = true, ["wmma."] = true, ["wgmma."] = true, vmad = true }

-- The family of what the device lacks that an instruction belongs to, or nil.
local function refused(op, operands, lacks)
  for _, one in ipairs(lacks) do
    for _, prefix in ipairs(one.prefixes) do
      local whole = not partly[prefix]
      if whole and (op:sub(1, #prefix) == prefix or prefix:sub(1, 1) == "%" and operands:find(prefix, 1, true)) then return one.family end
    end
  end
end

local function class_of(op, operands, about)
  local family = refused(op, operands, about.lacks)
  if family then return "refused", "the simulated device lacks " .. family end
  for _, row in ipairs(M.table) do
    if row.of(op, operands, about) then return row[1], row[3] end
  end
  return "exact"
end

-- Which products may be fused with a sum: those whose rounding no one asked for.
local function note_product(op, operands, products)
  local target = operands:match "^%s*(%%[%w_]+)"
  if target then products[target] = op:find "^mul%.[%l.]*f%d" ~= nil and not op:find "%.r[nzmp]" end
end

-- Each instruction of a text: opcode and operands.
local function instructions(text)
  return text:gsub("//[^\n]*", ""):gmatch "[^;{}\n]+"
end

local function parts(line)
  local code = line:gsub("^[%s]*", ""):gsub("^[%w_$]+:%s*", ""):gsub("^@!?%%[%w_]+%s+", "")
  local op, operands = code:match "^(%l[%w_.:]*)%s*(.*)$"
  return op, operands
end

local order = { refused = 1, approximate = 2, modelled = 3 }

local function by_class(a, b)
  if a.class ~= b.class then return order[a.class] < order[b.class] end
  if a.count ~= b.count then return a.count > b.count end
  return a.instruction < b.instruction
end

--- How the instructions of a PTX text are executed on a simulated device, of which `info` has `arch` and `lacks`: { exact, modelled,
--- approximate, refused = counts, rows = { { class, instruction, count, why }, ... } for what is not exact }.
function M.of(text, info)
  local found = { exact = 0, modelled = 0, approximate = 0, refused = 0, rows = {} }
  local about, known = { arch = info.arch or "", lacks = info.lacks or {}, products = {} }, {}
  for line in instructions(text) do
    local op, operands = parts(line)
    if op then
      local class, why = class_of(op, operands, about)
      local register = why and op:find "^mov%." and operands:match "(%%%l%l%l+[%w_]*)%s*$"      -- it says more than the move
      note_product(op, operands, about.products)
      if register then op = ("%s %s"):format(op, register) end
      found[class] = found[class] + 1
      local key = why and op .. why
      local row = key and known[key]
      if row then row.count = row.count + 1
      elseif key then
        known[key] = { class = class, instruction = op, count = 1, why = why }
        table.insert(found.rows, known[key])
      end
    end
  end
  table.sort(found.rows, by_class)
  return found
end

--- The same as lines for people.
function M.lines(found)
  local all = found.exact + found.modelled + found.approximate + found.refused
  local lines = { ("of %d instructions of its PTX %d are exact, %d modelled, %d approximate, %d refused")
    :format(all, found.exact, found.modelled, found.approximate, found.refused) }
  for _, row in ipairs(found.rows) do
    lines[#lines + 1] = ("%s: %d %s: %s"):format(row.class, row.count, row.instruction, row.why)
  end
  return lines
end

return M
