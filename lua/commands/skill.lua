-- cawb skill: pages on how to make kernels faster, by name, words or limiter.

local command = require "cawb.door.command"
local skills = require "cawb.agent.skills"

local M = { summary = "pages on making kernels faster: by name, by words, by a profile's limiter" }

M.usage = [[
usage: cawb skill                      all of them, the most important first
       cawb skill NAME                 one page
       cawb skill WORDS...             pages about these words, best first
       cawb skill --limiter LIMITER    pages that answer what a profile found
]]

local function print_list(list)
  local rows = {}
  for i, page in ipairs(list) do rows[i] = { tostring(page.priority), page.name, page.summary } end
  command.print_table({ "priority", "skill", "" }, rows)
end

local function by_limiter(limiter)
  local list = skills.for_limiter(limiter)
  if #list == 0 then
    command.wrong(("no skill answers '%s'; limiters are %s"):format(limiter, table.concat(skills.limiters, ", ")))
  end
  print_list(list)
  return 0
end

function M.main(argv)
  if #argv == 0 then return print_list(skills.list()) or 0 end
  local limiter = argv[1]:match "^%-%-limiter=(.+)$" or argv[1] == "--limiter" and (argv[2] or "")
  if limiter then return by_limiter(limiter) end
  local question = table.concat(argv, " ")
  local list, how = skills.find(question, 8)
  if how == "name" then io.stdout:write(skills.text(list[1]))
  elseif #list > 0 then print_list(list)
  else command.sound(skills.get(question)) end
  return 0
end

return M
