-- halves: a CUDA C++ program as two texts, for machines that have NVRTC and a C++ compiler, and no nvcc. The device's half keeps
-- kernels, device functions, variables and types. The host's half has a stub in each kernel's place, and no <<<...>>>. Lines stay where they
-- are. It reads declarations by their brackets and marks alone, as far as whole programs of a class need.

local M = {}

-- The text with comments, strings and characters as spaces: what is found in it stands at the same place in the text.
local function masked(text)
  local out, i = {}, 1
  local function blank(upto)
    out[#out + 1] = text:sub(i, upto):gsub("[^\n]", " ")
    i = upto + 1
  end
  while i <= #text do
    local two, c = text:sub(i, i + 1), text:sub(i, i)
    if two == "//" then blank((text:find("\n", i, true) or #text + 1) - 1)
    elseif two == "/*" then blank(select(2, text:find("*/", i + 2, true)) or #text)
    elseif c == '"' or c == "'" and not text:sub(i - 1, i - 1):match "%w" then
      local j = i + 1
      while j <= #text and text:sub(j, j) ~= c do j = j + (text:sub(j, j) == "\\" and 2 or 1) end
      blank(math.min(j, #text))
    else
      local upto = (text:find("[/\"']", i + 1) or #text + 1) - 1
      out[#out + 1], i = text:sub(i, upto), upto + 1
    end
  end
  return table.concat(out)
end

local function blanked(text) return (text:gsub("[^\n]", " ")) end

-- Where the bracket at `i` ends.
local function closing(mask, i)
  local _, ends = mask:find(("%%b%s%s"):format(mask:sub(i, i), ({ ["("] = ")", ["{"] = "}", ["["] = "]", ["<"] = ">" })[mask:sub(i, i)]), i)
  return ends or #mask
end

-- The parts of a list between commas that no bracket holds.
local function parts(list)
  local out, depth, from = {}, 0, 1
  for at, c in list:gmatch "()([%(%)<>,%[%]{}])" do
    if c == "," and depth == 0 then out[#out + 1], from = list:sub(from, at - 1), at + 1
    elseif c:match "[%(<%[{]" then depth = depth + 1
    elseif c ~= "," then depth = depth - 1 end
  end
  out[#out + 1] = list:sub(from)
  return out
end

-- The names in a list of parameters, of a function or a template.
local function names(list)
  local out = {}
  for _, one in ipairs(parts(list)) do
    out[#out + 1] = one:gsub("=.*", ""):gsub("%b[]", ""):match "([%a_][%w_]*)%s*$"
  end
  return out[1] ~= "void" and out or {}
end

-- ---- declarations, one after the other

-- The next one: where it ends and, if it has a body, where that begins. `opens`: a namespace or extern "C" {, which is entered.
local function item(mask, i)
  if mask:match("^#", i) then
    local e = i
    repeat e = mask:find("\n", e + 1, true) or #mask until mask:sub(e - 1, e - 1) ~= "\\"
    return e, nil, "directive"
  end
  local at = i
  while at <= #mask do
    at = mask:find("[;{%(}]", at) or #mask + 1
    local c, head = mask:sub(at, at), mask:sub(i, at - 1)
    if c == ";" then return at, nil, "plain" end
    if c == "}" then return at, nil, "closes" end
    if c == "(" then at = closing(mask, at) + 1
    elseif c == "{" then
      if head:match "^%s*namespace%f[^%w_]" or head:match "^%s*extern%s*$" then return at, nil, "opens" end
      local bare = head:gsub("%b()", "")
      local is_body = #bare < #head and not bare:gsub("%b<>", ""):find("=", 1, true) and not head:match "^%s*struct%f[^%w_]" and not head:match "^%s*class%f[^%w_]"
      if is_body then return closing(mask, at), at, "function" end
      at = closing(mask, at) + 1
    end
  end
  return #mask, nil, "plain"
end

local device_headers = { "^cuda", "^cooperative_groups", "^mma%.h", "^crt/", "^cub/", "^math%.h", "^stdint%.h", "^cstdint", "^cmath", "^cfloat",
  "^float%.h", "^climits", "^limits%.h", "^assert%.h", "^cassert", "^cstddef", "^stddef%.h" }

local function on_device(header)
  if header:match "^cuda_runtime" or header == "cuda.h" then return false end
  for _, pattern in ipairs(device_headers) do if header:match(pattern) then return true end end
  return false
end

local function directive(text)
  local header = text:match '^#%s*include%s*[<"]([^>"]+)[>"]'
  return (not header or on_device(header)) and text or blanked(text), text
end

-- A kernel as the host sees it: what <<<...>>> has pushed is handed on with the addresses of its arguments.
local function stub(text, mask, body)
  local head = mask:sub(1, body - 1)
  local name, from = head:match "([%a_][%w_]*)%s*()%b()%s*$"
  if not name then return text end
  local args = names(head:sub(from + 1, closing(head, from) - 1))
  for k, arg in ipairs(args) do args[k] = "(void *)&" .. arg end
  local of = head:match "^%s*template%s*(%b<>)"
  local own = of and ("%s<%s>"):format(name, table.concat(names(of:sub(2, -2)), ", ")) or name
  local lines = text:sub(body):gsub("[^\n]", "")
  return ("%s{ void *cawb_args[] = { %s }; cawb_pop((const void *)&%s, cawb_args); }%s"):format(text:sub(1, body - 1),
    #args > 0 and table.concat(args, ", ") or "nullptr", own, lines)
end

local shared = { "^%s*struct%f[^%w_]", "^%s*class%f[^%w_]", "^%s*enum%f[^%w_]", "^%s*union%f[^%w_]", "^%s*typedef%f[^%w_]", "^%s*template%f[^%w_]",
  "^%s*constexpr%f[^%w_]", "^%s*const%f[^%w_]", "^%s*static%s+const", "^%s*using%s+[%w_]+%s*=", "^%s*using%s+namespace%s+[^s]", "^%s*static_assert" }

local function is_shared(mask)
  if mask:find("std::", 1, true) then return false end
  for _, pattern in ipairs(shared) do if mask:match(pattern) then return true end end
  return false
end

-- A declaration's two texts.
local function both(text, mask, body)
  local head = body and mask:sub(1, body - 1) or mask
  if head:find("__global__", 1, true) then return text, body and stub(text, mask, body) or text end
  if head:find("__host__", 1, true) then return text, text end
  if head:find "__device__" or head:find "__constant__" or head:find "__shared__" then
    return text, body and blanked(text) or text
  end
  if body and not head:find "%f[%w_]constexpr%f[^%w_]" then return blanked(text), text end
  if is_shared(mask) then return text, text end
  return blanked(text), text
end

-- ---- launches

-- Where the name before `at` begins: an identifier, with what stands before it by :: and template arguments.
local function name_before(mask, at)
  local i = #mask:sub(1, at - 1):gsub("%s+$", "")
  if mask:sub(i, i) == ">" then
    local depth = 0
    repeat
      depth = depth + (mask:sub(i, i) == ">" and 1 or mask:sub(i, i) == "<" and -1 or 0)
      i = i - 1
    until depth == 0 or i < 1
  end
  while i > 0 and mask:sub(i, i):match "[%w_:]" do i = i - 1 end
  return i + 1
end

-- The host's half without <<<...>>>; `kept` gets each kernel that is launched with template arguments.
local function launches(text, kept)
  local mask = masked(text)
  local at = mask:find("<<<", 1, true)
  while at do
    local from, to = name_before(mask, at), mask:find(">>>", at, true)
    local open = to and mask:find("(", to, true)
    if not open then return text end
    local name, ends = text:sub(from, at - 1), closing(mask, open)
    if name:find("<", 1, true) then kept[name] = true end
    local call = ("(cawb_push(%s) ? (void)0 : %s%s)"):format(text:sub(at + 3, to - 1), name, text:sub(open, ends))
    text = text:sub(1, from - 1) .. call .. text:sub(ends + 1)
    mask = masked(text)
    at = mask:find("<<<", 1, true)
  end
  return text
end

-- Template kernels that only the host launches are made on the device by a kernel that takes their addresses.
local function keepers(kept)
  local lines, list = { "__global__ void cawb_keeps_0() {}\n" }, {}       -- a program without a kernel is one, too
  for name in pairs(kept) do list[#list + 1] = name end
  table.sort(list)
  for k, name in ipairs(list) do lines[k + 1] = ("__global__ void cawb_keeps_%d() { auto p = &%s; (void)p; }\n"):format(k, name) end
  return table.concat(lines)
end

--- The two halves of a program's text: { device =, host = }.
function M.of(text)
  local mask, device, host, i, kept = masked(text), {}, {}, 1, {}
  while i <= #text do
    local start = mask:find("%S", i) or #text + 1
    device[#device + 1], host[#host + 1] = blanked(text:sub(i, start - 1)), text:sub(i, start - 1)
    if start > #text then break end
    local ends, body, kind = item(mask, start)
    local own, a, b = text:sub(start, ends), nil, nil
    if kind == "directive" then a, b = directive(own)
    elseif kind == "opens" or kind == "closes" then a, b = own, own
    else a, b = both(own, mask:sub(start, ends), body and body - start + 1) end
    device[#device + 1], host[#host + 1] = a, b
    i = ends + 1
  end
  local whole = launches(table.concat(host), kept)
  return { device = table.concat(device) .. "\n" .. keepers(kept), host = whole }
end

return M
