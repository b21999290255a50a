-- variants: right kernels written otherwise: other names, other order where the order of a product or a sum of two is
-- free, longer forms, needless barriers, other unrolling, other loads, other tunables. M.draw puts a few of these
-- into a source; what it computes stays, but for the rounding of a sum that is added up from its other end.

local evaluate = require "cawb.judge.evaluate"
local execute = require "cawb.judge.worker.execute"
local tokens = require "mutants.tokens"

local M = {}

local types = { float = true, int = true, unsigned = true, bool = true, long = true, size_t = true, double = true, auto = true,
                ["*"] = true, ["&"] = true, __restrict__ = true, float4 = true, float2 = true, char = true }
local built_in = { x = true, y = true, z = true, w = true, blockIdx = true, threadIdx = true, gridDim = true, blockDim = true }

local function word(s, i) return s.list[i] and s.list[i].text end

local function study(source)
  local list = tokens.scan(source)
  return { source = source, list = list, partner = tokens.partners(list) }
end

local function text_of(s, first, last) return tokens.text(s.source, s.list, first, last) end

-- The source with these edits, { from, to, text } in any order, none in another.
local function edited(source, edits)
  table.sort(edits, function(a, b) return a[1] > b[1] end)
  for _, e in ipairs(edits) do source = source:sub(1, e[1] - 1) .. e[3] .. source:sub(e[2] + 1) end
  return source
end

local function replace(s, first, last, text) return { s.list[first].from, s.list[last].to, text } end

-- ---- what may be done, each: study, pick -> edits

local function directives(source)
  local text = {}
  for line in ("\n" .. source):gmatch "\n%s*(#[^\n]*)" do text[#text + 1] = line end
  return table.concat(text, "\n")
end

-- Declared names that neither a macro nor a define speaks of, all or some of them.
local function names_of(s, defines)
  local told, found, list = directives(s.source) .. "\n" .. defines, {}, {}
  for i, w in ipairs(s.list) do
    local next = word(s, i + 1)
    local declared = w.kind == "name" and types[word(s, i - 1) or ""]
      and (next == "=" or next == ";" or next == "," or next == ")" or next == "[")
    if declared and not types[w.text] and not built_in[w.text] and not found[w.text]
        and not told:find("%f[%w_]" .. w.text .. "%f[^%w_]") then
      found[w.text], list[#list + 1] = true, w.text
    end
  end
  return list
end

local function rename(s, pick, defines)
  local new, edits = {}, {}
  for _, name in ipairs(names_of(s, defines)) do
    if pick(1, 2) == 1 then new[name] = ("%s_%d"):format(name, pick(1, 99)) end
  end
  for i, w in ipairs(s.list) do
    if w.kind == "name" and new[w.text] then edits[#edits + 1] = replace(s, i, i, new[w.text]) end
  end
  return edits
end

-- A name, a number, a call or an element: where it ends, from its first word.
local function operand_end(s, i)
  local w = s.list[i]
  if not w or (w.kind ~= "name" and w.kind ~= "number") then return nil end
  while word(s, i + 1) == "[" or word(s, i + 1) == "(" do i = s.partner[i + 1] end
  return i
end

-- a * b -> b * a and a + b -> b + a where these two are all that is assigned.
local function commute(s, pick)
  local edits = {}
  for i, w in ipairs(s.list) do
    local last = (w.text == "=" or w.text == "+=") and operand_end(s, i + 1)
    local op = last and word(s, last + 1)
    local stop = (op == "*" or op == "+") and operand_end(s, last + 2)
    if stop and (word(s, stop + 1) == ";" or word(s, stop + 1) == ",") and pick(1, 2) == 1 then
      edits[#edits + 1] = replace(s, i + 1, stop, ("%s %s %s"):format(text_of(s, last + 2, stop), op, text_of(s, i + 1, last)))
    end
  end
  return edits
end

-- x += e; -> x = x + (e);
local function lengthen(s, pick)
  local edits = {}
  for i, w in ipairs(s.list) do
    local before = word(s, i - 2)
    if w.text == "+=" and s.list[i - 1].kind == "name" and (before == ";" or before == "{" or before == "}" or before == ")") then
      local k = i + 1
      while word(s, k) ~= ";" and word(s, k) ~= "," and word(s, k) ~= ")" and s.list[k] do
        k = (s.partner[k] and s.partner[k] > k and s.partner[k] or k) + 1
      end
      if word(s, k) == ";" and pick(1, 2) == 1 then
        local name = word(s, i - 1)
        edits[#edits + 1] = replace(s, i, k - 1, ("= %s + (%s)"):format(name, text_of(s, i + 1, k - 1)))
      end
    end
  end
  return edits
end

local function barriers(s, pick)
  local edits = {}
  for i, w in ipairs(s.list) do
    local before = word(s, i - 1)
    local alone = before == ";" or before == "{" or before == "}"
    if alone and (w.text == "__syncthreads" or w.text == "__syncwarp") and word(s, i + 3) == ";" and pick(1, 2) == 1 then
      edits[#edits + 1] = replace(s, i + 3, i + 3, ("; %s;"):format(pick(1, 2) == 1 and "__threadfence_block()" or text_of(s, i, i + 2)))
    end
  end
  return edits
end

-- Another unrolling, where none is asked for: by 1, 2, 4 or 8. Of a loop whose turns it knows to be at most three
-- (`max(0, c - 1)` to `min(n - 1, c + 1)`) NVRTC 13.0 makes three without a test when asked to unroll by 3, and what comes of
-- that reads past the end of its input: the judge rejects it, rightly.
local function unroll(s, pick)
  local edits = {}
  for i, w in ipairs(s.list) do
    local before = s.source:sub(1, w.from - 1)
    local fresh = before:find "\n[ ]*$" and not before:find "#pragma[^\n]*\n[ ]*$"
    if w.text == "for" and fresh and word(s, i - 1) ~= ")" and word(s, i - 1) ~= "else" and pick(1, 2) == 1 then
      edits[#edits + 1] = replace(s, i, i, ("\n#pragma unroll %d\nfor"):format(1 << pick(0, 3)))
    end
  end
  return edits
end

local function unrestrict(s, pick)
  local edits = {}
  for i, w in ipairs(s.list) do
    if w.text == "__restrict__" and pick(1, 2) == 1 then edits[#edits + 1] = replace(s, i, i, "") end
  end
  return edits
end

-- for (int i = 0; i < n; i++) sum += ...; from the other end.
local function backwards(s, pick)
  local edits = {}
  for i in ipairs(s.list) do
    local close = word(s, i) == "for" and s.partner[i + 1]
    local head = close and text_of(s, i + 2, close - 1)
    local name, bound = (head or ""):match "^int ([%w_]+) = 0; [%w_]+ < ([%w_]+); [%w_]+%+%+$"
    local sum = close and word(s, close + 1)
    local whole = name and word(s, close + 2) == "+=" and s.list[close + 1].kind == "name"
    local k = close
    while whole and word(s, k) ~= ";" do
      k = k + 1
      whole = s.list[k] and (k == close + 1 or word(s, k) ~= sum)
    end
    if whole and pick(1, 2) == 1 then
      edits[#edits + 1] = replace(s, i + 2, close - 1, ("int %s = %s - 1; %s >= 0; %s--"):format(name, bound, name, name))
    end
  end
  return edits
end

-- A body of one statement within braces.
local function braces(s, pick)
  local edits = {}
  for i, w in ipairs(s.list) do
    local close = (w.text == "for" or w.text == "if") and word(s, i + 1) == "(" and s.partner[i + 1]
    local first = close and s.list[close + 1]
    if first and first.kind == "name" and first.text ~= "for" and first.text ~= "if" and first.text ~= "while" then
      local k = close + 1
      while word(s, k) ~= ";" do k = (s.partner[k] and s.partner[k] > k and s.partner[k] or k) + 1 end
      if pick(1, 2) == 1 then edits[#edits + 1] = replace(s, close + 1, k, ("{ %s }"):format(text_of(s, close + 1, k))) end
    end
  end
  return edits
end

M.kinds = { "rename", "commute", "lengthen", "barriers", "unroll", "unrestrict", "backwards", "braces" }
local ways = { rename = rename, commute = commute, lengthen = lengthen, barriers = barriers, unroll = unroll,
               unrestrict = unrestrict, backwards = backwards, braces = braces }

-- The values of a candidate's defines, as text.
local function told(candidate)
  local list = {}
  for _, value in pairs(candidate.defines or {}) do list[#list + 1] = tostring(value) end
  return table.concat(list, "\n")
end

--- A source written otherwise, and the names of what was done.
function M.rewrite(source, candidate, pick)
  local did = {}
  for _, kind in ipairs(M.kinds) do
    if pick(1, 2) == 1 then
      local edits = ways[kind](study(source), pick, told(candidate))
      if #edits > 0 then source, did[#did + 1] = edited(source, edits), kind end
    end
  end
  return source, did
end

--- One member of a candidate's family, where it has tunables.
function M.member(task, candidate, pick, options)
  local declared = execute.tunables(task, candidate, options)
  if not declared or not declared.ok or #declared.tunables == 0 then return candidate end
  local members = evaluate.members(declared.tunables, 64)
  return candidate:with(members[pick(1, #members)])
end

return M
