-- skill: a page out of skills/, by its name, by words, or by what limits a kernel.

local function library()
  local ok, skills = pcall(require, "cawb.agent.skills")
  return ok and skills or nil
end

return {
  description = "Look up a technique: by its name, by some words, or by the profiler's limiter. One match is shown whole.",
  parameters = { { "question", "string", "as coalesced-access, or 'bank conflicts', or dram" } },
  enabled = function() return library() ~= nil end,
  run = function(_, arguments)
    local skills = library()
    local pages, how = skills.find(arguments.question, 5)
    if not pages or #pages == 0 then return "no skill answers that; try fewer words", true end
    if #pages == 1 or how == "name" then return skills.text(pages[1]) end
    local lines = { "Ask for one of these by its name:" }
    for _, page in ipairs(pages) do lines[#lines + 1] = skills.line(page) end
    return table.concat(lines, "\n")
  end,
}
