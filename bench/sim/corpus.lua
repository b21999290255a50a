-- cawb bench/sim/corpus.lua DEVICE [--record FILE] [--compare FILE] [--raw FOLDER] [--only PATTERN]
-- [--more N]: the kernels of bench/sim/corpus/ on a device. --record keeps what they leave, --compare
-- holds it against what another device left, --raw writes every kernel's words to a file of its
-- own, --more generates N further programs. Ends with 1 where a kernel fails or differs.

local cawb = require "cawb"
local core = require "cawb.core"

local here = arg[0]:match "^(.*)/" or "."
local corpus = dofile(here .. "/corpus/corpus.lua")

local options, name = {}, nil
do
  local i = 1
  while arg[i] do
    local key = arg[i]:match "^%-%-(%a+)$"
    if key then options[key], i = assert(arg[i + 1], "a value is due behind " .. arg[i]), i + 2
    else name, i = arg[i], i + 1 end
  end
end
name = name or "sim:h100"
if options.more then corpus.generated.last = corpus.generated.last + math.tointeger(tonumber(options.more)) end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local device <close> = assert(cawb.device(name))
local wanted = options.compare and core.json.decode(assert(io.open(options.compare)):read "a").kernels
local kept, counts, raced = {}, { ran = 0, failed = 0, differs = 0, compared = 0 }, 0

for _, k in ipairs(corpus.kernels()) do
  if not options.only or k.name:find(options.only) then
    local bytes, report = corpus.execute(device, k)
    counts.ran = counts.ran + 1
    if not bytes then
      counts.failed = counts.failed + 1
      print(("%-24s FAILED: %s"):format(k.name, (report:match "[^\n]*")))
    else
      if report.races and report.races > 0 then
        raced = raced + 1
        print(("%-24s race: %s"):format(k.name, report.race))
      end
      kept[k.name] = corpus.digest(k, bytes)
      if options.raw then write(("%s/%s.bin"):format(options.raw, k.name), bytes) end
      if wanted and wanted[k.name] then
        counts.compared = counts.compared + 1
        local why = corpus.same(k, bytes, wanted[k.name])
        if why then
          counts.differs = counts.differs + 1
          print(("%-24s DIFFERS: %s"):format(k.name, why))
        end
      end
    end
  end
end

if options.record then
  local names, lines = {}, {}
  for key in pairs(kept) do names[#names + 1] = key end
  table.sort(names)
  for i, key in ipairs(names) do lines[i] = ("%q: %q"):format(key, kept[key]) end
  write(options.record, ('{"device": %q, "driver": %q, "kernels": {\n%s\n}}\n'):format(device.info.model,
    device.info.driver or "", table.concat(lines, ",\n")))
end
print(("%s: %d kernels, %d failed, %d compared, %d differ, %d with races"):format(device.info.model, counts.ran,
  counts.failed, counts.compared, counts.differs, raced))
os.exit(counts.failed + counts.differs == 0 and 0 or 1, true)
