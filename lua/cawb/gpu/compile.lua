-- compile: source text to PTX and machine code, in the device's compiler process.

local M = {}

-- What ends a build without an answer is the candidate's doing: a template that
-- never ends, a crash of the compiler on its source.
local blamed = { candidate = true, timeout = true, died = true, memory = true, protocol = true }

local known = { source = true, device = true, defines = true, options = true }

--- Compile { source =, device =, defines = {NAME = value}, options = {"-fmad=false"} }.
--- Returns { ok = true, ptx = path, cubin = path, kernels = {...}, log =, seconds =,
--- cached = }, or { ok = false, stage = "compile", reason =, log = } when the source
--- is at fault, or nil, message, name when the machine is.
function M.compile(spec)
  if type(spec) ~= "table" or type(spec.source) ~= "string" or not spec.device then
    error("compile: pass { source = text, device = cawb.device(...) }", 2)
  end
  for key in pairs(spec) do
    if not known[key] then error(("compile: unknown field '%s'"):format(key), 2) end
  end
  local defines = {}
  for name, value in pairs(spec.defines or {}) do defines[name] = tostring(value) end
  local request = { op = "compile", source = spec.source, defines = defines,
    arch = spec.device.info.arch, options = #(spec.options or {}) > 0 and spec.options or nil }
  local reply, message, name, raw = spec.device:ask_compiler(request)
  if reply then return reply end
  if not blamed[name] then
    local ok, why, kind = spec.device:compiles()
    if not ok then return nil, why, kind end
    message = ("its compiler failed (%s): %s"):format(name, message)
  end
  return { ok = false, stage = "compile", reason = message, log = raw and raw.log or "",
           seconds = raw and raw.seconds or 0 }
end

return M
