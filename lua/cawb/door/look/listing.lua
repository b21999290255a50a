-- listing: the code that a compiler wrote, instruction by instruction, each with its line of kernel.cu.

local core = require "cawb.core"
local file = require "cawb.base.file"
local python = require "cawb.base.python"
local shell = require "cawb.base.shell"

local M = {}

local most = 6000                -- lines that a page shows

-- The numbers of the files that are the kernel's own text.
local function own_files(ptx)
  local own = {}
  for number, name in ptx:gmatch '\n%s*%.file%s+(%d+)%s+"([^"]*)"' do
    if name:match "[^/]*$" == "kernel.cu" then own[number] = true end
  end
  return own
end

-- Where the code is: behind the last kernel or function the text describes only debugging.
local function is_code(line)
  return line:match "%S" and not line:match "^%s*//" and not line:match "^%s*%.loc" and not line:match "^%s*%.file"
    and not line:match "^%s*%.section" and not line:match "^%s*%.b8"
end

--- PTX as { { line of kernel.cu or 0, text }, ... }, and whether some is left out.
function M.ptx(text)
  local own, at, list = own_files("\n" .. text), 0, core.json.array {}
  text = text:gsub("\n%s*%.section%s+%.debug.*$", "\n")
  for line in text:gmatch "[^\n]+" do
    local number, where = line:match "^%s*%.loc%s+(%d+)%s+(%d+)"
    if number then
      local outer = line:match "inlined_at (%d+) (%d+)" and { line:match "inlined_at (%d+) (%d+)" }
      at = own[number] and math.tointeger(tonumber(where)) or outer and own[outer[1]] and math.tointeger(tonumber(outer[2])) or at
    elseif line:match "^%s*%.?[%w_%. ]*%.entry" or line:match "^%s*%.func" then at = 0 end
    if is_code(line) then
      if #list >= most then return list, true end
      list[#list + 1] = core.json.array { at, (line:gsub("\t", "  "):gsub("%s+$", "")) }
    end
  end
  return list, false
end

-- ---- machine code, where NVIDIA's disassembler is

local tool

local function is_file(path) return core.fs.kind(path) == "file" and path or nil end

local function find_tool()
  local places = { core.fs.which "nvdisasm" or "" }
  for _, home in ipairs { os.getenv "CAWB_CUDA_HOME" or "", os.getenv "CUDA_HOME" or "", "/usr/local/cuda" } do
    if home ~= "" then places[#places + 1] = home .. "/bin/nvdisasm" end
  end
  for folder in python.site_packages():gmatch "[^:]+" do
    places[#places + 1] = folder .. "/triton/backends/nvidia/bin/nvdisasm"
    places[#places + 1] = folder .. "/nvidia/cuda_nvcc/bin/nvdisasm"
  end
  for _, path in ipairs(places) do if path ~= "" and is_file(path) then return path end end
  return false
end

--- The same of machine code; or nil and what is missing.
function M.sass(cubin)
  if tool == nil then tool = find_tool() end
  if not tool then return nil, "nvdisasm is not here: it comes with the CUDA toolkit, and with Triton" end
  if not cubin or not is_file(cubin) then return nil, "there is no machine code: this compiler writes PTX only" end
  local out = io.popen(("timeout 5 %s -g -c %s 2>/dev/null"):format(shell.quoted(tool), shell.quoted(cubin)))
  local text = out and out:read "a" or ""
  if out then out:close() end
  local list, at = core.json.array {}, 0
  for line in text:gmatch "[^\n]+" do
    local name, number = line:match '//## File "([^"]*)", line (%d+)'
    if name then
      if name:match "[^/]*$" == "kernel.cu" then at = math.tointeger(tonumber(number)) end
    elseif line:match "/%*%x+%*/" then
      if #list >= most then return list end
      list[#list + 1] = core.json.array { at, (line:gsub("/%*%x+%*/%s*", "", 1):gsub("%s+/%*.*$", ""):gsub("^%s+", "  ")) }
    elseif line:match "^%.text%." then list[#list + 1] = core.json.array { 0, line } end
  end
  if #list == 0 then return nil, "nvdisasm said nothing of it" end
  return list
end

--- The PTX of a built kernel, as data.
function M.of(built)
  local text = built and built.ptx and file.read(built.ptx)
  if not text then return nil end
  local ptx, cut = M.ptx(text)
  return { ptx = ptx, cut = cut }
end

return M
