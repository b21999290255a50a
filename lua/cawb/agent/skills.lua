-- skills: the pages in skills/, one idea each, for agents and people. Found by name, by words,
-- or by a profile's limiter. skills/README.md says what is in a page.

local core = require "cawb.core"
local file = require "cawb.base.file"
local suggest = require "cawb.base.suggest"

local M = {}

--- Every word that `roofline.limiter` can be, measured or modelled.
M.limiters = { "launch", "dram", "compute", "blocks", "issue", "latency", "memory", "l2", "l1", "shared", "unknown" }

-- What a search is worth, by where a word is found. Words that say nothing are left out.
local weights = { name = 8, words = 5, summary = 4, body = 1 }
local empty = {}
for word in ("a an and are as at be by can do does for from how i in into is it my not of on one or out so than that "
  .. "the this to use what when where which why with without kernel kernels gpu cuda faster slow"):gmatch "%a+" do
  empty[word] = true
end

local lists = { limiters = true, architectures = true, rungs = true }

local function split(text)
  local list = {}
  for item in text:gmatch "[^,]+" do list[#list + 1] = item:match "^%s*(.-)%s*$" end
  return list
end

-- "key: value" lines, and "  - item" lines below a key without one, between two lines of ---.
local function parse(text, path)
  local head, body = text:match "^%-%-%-\n(.-)\n%-%-%-\n(.*)$"
  if not head then return nil, path .. ": a page begins with front matter between two lines of ---" end
  local page, last = { body = body, path = path, evidence = {} }, nil
  for line in head:gmatch "[^\n]+" do
    local item = line:match "^%s+%-%s+(.*)$"
    local key, value = line:match "^(%l+):%s*(.-)%s*$"
    if item and last then table.insert(page[last], item)
    elseif key and value == "" then
      page[key], last = {}, key
    elseif key then
      page[key], last = lists[key] and split(value) or value, nil
    else
      return nil, ("%s: '%s' is no line of front matter"):format(path, line)
    end
  end
  page.priority = math.tointeger(tonumber(page.priority))
  return page
end

local function read(path)
  local text, message = file.read(path)
  if not text then return nil, message end
  return parse(text, path)
end

local function first(a, b)
  if a.priority ~= b.priority then return a.priority < b.priority end
  return a.name < b.name
end

local known = {}                             -- by folder: pages do not change under a run

-- The pages of a folder, and of the folders in it.
local function pages(dir, list)
  for _, entry in ipairs(core.fs.list(dir) or {}) do
    local path = dir .. "/" .. entry
    if core.fs.kind(path) == "folder" then pages(path, list)
    elseif entry:match "^%l[%l%d-]*%.md$" then list[#list + 1] = assert(read(path)) end
  end
  return list
end

--- All pages, the highest priority first: { name =, summary =, priority =, limiters = {...},
--- architectures =, words =, rungs =, evidence =, task =, body =, path = }. `dir` defaults to the
--- skills/ that cawb came with. A page that cannot be read raises.
function M.list(dir)
  dir = dir or core.home .. "/skills"
  if not known[dir] then
    known[dir] = pages(dir, {})
    table.sort(known[dir], first)
  end
  return known[dir]
end

--- The page of this name; or nil and a message that suggests one.
function M.get(name, dir)
  local names = {}
  for i, page in ipairs(M.list(dir)) do
    if page.name == name then return page end
    names[i] = page.name
  end
  return nil, ("there is no skill '%s'%s"):format(name, suggest.hint(name, names)), "missing"
end

--- The pages that answer a limiter, the highest priority first.
function M.for_limiter(limiter, dir)
  local list = {}
  for _, page in ipairs(M.list(dir)) do
    for _, one in ipairs(page.limiters) do
      if one == limiter then list[#list + 1] = page end
    end
  end
  return list
end

-- Lower case; "loads" and "load" are one word.
local function stem(word)
  word = word:lower()
  if #word > 3 and not word:match "ss$" then word = word:gsub("s$", "") end
  return word
end

local function stems(text)
  local set = {}
  for word in text:gmatch "[%w_]+" do set[stem(word)] = true end
  return set
end

local function indexed(page)
  if not page.index then
    page.index = { name = stems(page.name), words = stems(page.words or ""), summary = stems(page.summary),
                   body = stems(page.body) }
  end
  return page.index
end

-- A word that few pages have says more than one that all have.
local function rarity(word, list)
  local having = 0
  for _, page in ipairs(list) do
    local index = indexed(page)
    if index.body[word] or index.words[word] or index.name[word] or index.summary[word] then having = having + 1 end
  end
  return math.log(1 + #list / math.max(1, having))
end

local function score(page, words)
  local sum, index = 0, indexed(page)
  for _, word in ipairs(words) do
    for part, weight in pairs(weights) do
      if index[part][word.text] then sum = sum + weight * word.rarity end
    end
  end
  return sum
end

--- At most `n` pages about some words, best first; none where no word is known.
function M.search(text, n, dir)
  local words, found = {}, {}
  for word in text:gmatch "[%w_]+" do
    local text = stem(word)
    if not empty[word:lower()] then words[#words + 1] = { text = text, rarity = rarity(text, M.list(dir)) } end
  end
  for _, page in ipairs(M.list(dir)) do
    local points = score(page, words)
    if points > 0 then found[#found + 1] = { page = page, points = points } end
  end
  table.sort(found, function(a, b)
    if a.points ~= b.points then return a.points > b.points end
    return first(a.page, b.page)
  end)
  local list = {}
  for i = 1, math.min(n or 5, #found) do list[i] = found[i].page end
  return list
end

local function among(word, list)
  for _, one in ipairs(list) do
    if one == word then return true end
  end
  return false
end

--- What a question means: a page by its name, pages by a limiter, else by words. Returns the
--- list and "name", "limiter" or "words".
function M.find(question, n, dir)
  local word = question:match "^%s*(.-)%s*$"
  for _, page in ipairs(M.list(dir)) do
    if page.name == word:lower() then return { page }, "name" end
  end
  if among(word:lower(), M.limiters) then
    local list = M.for_limiter(word:lower(), dir)
    return table.move(list, 1, math.min(n or #list, #list), 1, {}), "limiter"
  end
  return M.search(word, n, dir), "words"
end

--- "coalesced-access (2): Let neighbouring lanes..."
function M.line(page) return ("%s (%d): %s"):format(page.name, page.priority, page.summary) end

--- A page as text: what it says, then the code and the measurements that show it.
function M.text(page)
  local out = { (page.body:gsub("^\n+", "")) }
  if page.architectures[1] ~= "all" then
    out[#out + 1] = "Architectures: " .. table.concat(page.architectures, ", ")
  end
  if #(page.rungs or {}) > 0 then out[#out + 1] = "Code: " .. table.concat(page.rungs, ", ") end
  for _, claim in ipairs(page.evidence) do out[#out + 1] = "Measured: " .. claim end
  return table.concat(out, "\n") .. "\n"
end

--- The code blocks of a page in one language ("cuda", "lua"), in order.
function M.fragments(page, language)
  local list = {}
  for text in ("\n" .. page.body):gmatch("\n```" .. language .. "\n(.-)\n```") do list[#list + 1] = text .. "\n" end
  return list
end

return M
