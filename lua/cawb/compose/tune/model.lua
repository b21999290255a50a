-- model: predicts how options change a kernel's time. The logarithm of the time is a sum of contributions, one for each option with
-- its value. A contribution is a normal variable, and measurements of this kernel or of similar ones update it (recursive least
-- squares). Without any knowledge an option costs a little: a generator's own choice is rarely far from the best.

local M = {}
local Model = {}
Model.__index = Model

local COST, SPREAD = 0.12, 0.2           -- mean and standard deviation of an unknown option's contribution
local MISFIT = 0.06                      -- error of the sum, for each option
local TRUST = { own = 0.05, near = 0.4 } -- standard deviations of measurements: of this kernel, of similar ones

function M.new() return setmetatable({ index = {}, mean = {}, spread = {} }, Model) end

local function feature(self, name, value)
  local word = name .. "=" .. tostring(value)
  local i = self.index[word]
  if i then return i end
  i = #self.mean + 1
  self.index[word], self.mean[i], self.spread[i] = i, COST, {}
  for k = 1, i - 1 do self.spread[i][k], self.spread[k][i] = 0.0, 0.0 end
  self.spread[i][i] = SPREAD * SPREAD
  return i
end

local function features(self, own)
  local list = {}
  for name, value in pairs(own) do list[#list + 1] = feature(self, name, value) end
  table.sort(list)
  return list
end

-- The predicted contribution of options, and its covariance with every feature.
local function told(self, list)
  local mean, along = 0.0, {}
  for _, i in ipairs(list) do mean = mean + self.mean[i] end
  for k = 1, #self.mean do
    local sum, row = 0.0, self.spread[k]
    for _, i in ipairs(list) do sum = sum + row[i] end
    along[k] = sum
  end
  return mean, along
end

local function variance(along, list)
  local sum = 0.0
  for _, i in ipairs(list) do sum = sum + along[i] end
  return math.max(sum, 0.0) + MISFIT * MISFIT * #list
end

--- Learns a measured contribution of options. `weight`: the similarity of the measured kernel; nil for the kernel in question itself.
function Model:learn(own, change, weight)
  local list = features(self, own)
  if #list == 0 then return end
  local mean, along = told(self, list)
  local trust = weight and TRUST.near * TRUST.near / weight or TRUST.own * TRUST.own
  local off, whole = math.min(change, 1.0) - mean, variance(along, list) + trust
  for k = 1, #self.mean do
    local part, row = along[k] / whole, self.spread[k]
    if along[k] ~= 0.0 then
      self.mean[k] = self.mean[k] + part * off
      for n = 1, #self.mean do row[n] = row[n] - part * along[n] end
    end
  end
end

-- The normal distribution and its density, the former by a formula of Hastings (1955).
local function below(x)
  local t = 1 / (1 + 0.2316419 * math.abs(x))
  local tail = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * t
    * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return x > 0 and 1 - tail or tail
end

--- By how much a normal number should fall below `best`, where it does.
function M.gain(mean, deviation, best)
  local z = (best - mean) / deviation
  return deviation * (z * below(z) + math.exp(-z * z / 2) / math.sqrt(2 * math.pi))
end

--- The same of options.
function Model:gain(own, best)
  local list = features(self, own)
  if #list == 0 then return math.max(best, 0.0) end
  local mean, along = told(self, list)
  return M.gain(mean, math.sqrt(variance(along, list)), best)
end

return M
