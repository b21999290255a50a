-- Some kernels of a plan by themselves, for their times on a simulated device: kernel.cu without the texts of the others, and
-- plan.lua without their steps. What is launched first takes longer, so an empty kernel goes ahead where the plan's own first one does not.

local M = {}

local EMPTY = 'extern "C" __global__ void nothing() {}\n'

local function launches(kernel)
  if kernel.call then return true end
  for _, launch in ipairs(kernel.made and kernel.made.launches or {}) do
    if launch.kernel and not launch.prepare then return true end
  end
  return false
end

local function first_of(made)
  for k, kernel in ipairs(made.kernels) do
    if launches(kernel) then return k end
  end
end

-- The plan's head, and its steps by kernel: each begins with a comment of its own.
local function split(made)
  local parts, from = {}, 1
  for _ = 1, #made.kernels do
    local at = made.plan:find("\n\n-- ", from, true)
    if not at then return nil end
    parts[#parts + 1] = made.plan:sub(from, at)
    from = at + 1
  end
  parts[#parts + 1] = made.plan:sub(from)
  return table.remove(parts, 1), parts
end

-- Whose texts are needed: a kernel may go by the text of another one.
local function texts_of(made, wanted)
  local names, keep = {}, {}
  for k in pairs(wanted) do names[made.kernels[k].as or made.kernels[k].name] = true end
  for k, kernel in ipairs(made.kernels) do keep[k] = wanted[k] or names[kernel.name] end
  return keep
end

local function source_of(made, wanted)
  local text, keep = made.source, texts_of(made, wanted)
  for k, kernel in ipairs(made.kernels) do
    local own = not keep[k] and kernel.made and kernel.made.text
    if own then
      local from, to = text:find(own, 1, true)
      if not from then return nil end
      text = text:sub(1, from - 1) .. text:sub(to + 1)
    end
  end
  return text
end

--- Those kernels of what was made whose numbers are keys of `wanted`: { source, plan, options, kernels, numbers = of each its number
--- among all, ahead = whether an empty kernel is launched first }; or nil where texts cannot be told apart.
function M.of(made, wanted)
  local source, head, steps = source_of(made, wanted), split(made)
  if not source or not head then return nil end
  local part = { options = made.options, kernels = {}, numbers = {}, ahead = not wanted[first_of(made)] }
  local words = { head }
  if part.ahead then source, words[2] = source .. EMPTY, "launch(\"nothing\", { grid = { 1 }, block = { 32 } })\n" end
  for k, kernel in ipairs(made.kernels) do
    if wanted[k] then
      words[#words + 1] = steps[k]
      part.kernels[#part.kernels + 1], part.numbers[#part.numbers + 1] = kernel, k
    end
  end
  part.source, part.plan = source, table.concat(words)
  return part
end

return M
