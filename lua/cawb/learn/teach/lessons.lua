-- lessons: the kept tasks of a set are taught, as they are drawn or afterwards.

local core = require "cawb.core"
local corpus = require "cawb.learn.teach.corpus"
local teacher = require "cawb.learn.teach.teacher"

local M = {}

local Lessons = {}
Lessons.__index = Lessons

--- `spec` = { set =, maker =, all = options, say = }.
function M.new(spec)
  local self = setmetatable(spec, Lessons)
  self.how = self.all.teach
  self.options = teacher.options(self.all, self.how)
  return self
end

--- Teach one task: how many texts there are, or nil, message, name.
function Lessons:one(number, code)
  local from = core.clock.now()
  local n, why, name = corpus.teach(self.set, self.maker, { number = number, code = code }, self.how, self.options)
  if not n then return nil, why, name end
  self.say(("        draw %d  %d texts%s, %.1f s"):format(number, n, why and ": " .. why:sub(1, 100) or "", core.clock.now() - from))
  return n
end

--- How many texts there are, each counted once.
function Lessons:count() return #corpus.rows(self.set, self.set:rows(), self.how).texts end

--- Teach the kept tasks that have not been: true, or nil, message, name ("interrupted").
function Lessons:rest()
  local there = self.set:taught()
  for _, row in ipairs(self.set:rows()) do
    if row.status == "kept" and not there[row.number] then
      if core.clock.interrupted() then return nil, "interrupted", "interrupted" end
      local code, message, name = self.set:code(row)
      if code then code, message, name = self:one(row.number, code) end
      if not code then return nil, message, name end
    end
  end
  return true
end

return M
