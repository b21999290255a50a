-- pages: Markdown as the tests of the documentation see it. `pages.read(path)` returns { path =, lines =, headings =
-- { [anchor] = title }, links = { { text =, target =, line = } }, fences = { ... } }; a fence is { language =, text =,
-- line =, comment = the text of an HTML comment on the line before it }.

local core = require "cawb.core"

local M = {}

-- As GitHub makes an anchor of a title.
local function anchor(title)
  return (title:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

local function links_of(page, line, number)
  for text, target in line:gsub("`[^`]*`", "``"):gmatch "%[([^%]]*)%]%(([^%)%s]+)%)" do
    page.links[#page.links + 1] = { text = text, target = target, line = number }
  end
end

-- One line outside of a fence.
local function plain(page, line, number)
  local title = line:match "^#+%s+(.*)$"
  if title then page.headings[anchor(title)] = title end
  links_of(page, line, number)
end

function M.read(path)
  local page = { path = path, lines = 0, headings = {}, links = {}, fences = {} }
  local open, comment
  for line in assert(io.open(path)):lines() do
    page.lines = page.lines + 1
    if open and line:match "^```%s*$" then
      open.text = table.concat(open.text, "\n") .. "\n"
      open = nil
    elseif open then open.text[#open.text + 1] = line
    elseif line:match "^```" then
      open = { language = line:match "^```(%w*)", text = {}, line = page.lines, comment = comment }
      page.fences[#page.fences + 1] = open
    else plain(page, line, page.lines) end
    comment = line:match "^<!%-%- (.*) %-%->$"
  end
  assert(not open, path .. ": a fence is not closed")
  return page
end

--- The rows of all tables of a file whose first cell holds code: { { names = { ... }, cells = { ... }, section = }, ... }.
function M.rows(path)
  local rows, section, before = {}, "", nil
  for line in assert(io.open(path)):lines() do
    section = line:match "^#+%s+(.*)$" or section
    local cells, names = {}, {}
    for cell in line:match "^|.*|$" and line:sub(2):gmatch "([^|]*)|" or function() end do
      cells[#cells + 1] = cell:match "^%s*(.-)%s*$"
    end
    for name in (cells[1] or ""):gmatch "`([^`]+)`" do names[#names + 1] = name end
    if line:match "^|%-%-%-" and before then rows[#rows] = nil end       -- that was a table's head
    before = #names > 0 and { names = names, cells = cells, section = section } or nil
    rows[#rows + 1] = before
  end
  return rows
end

--- The text below the heading `title`, up to the next one of its level or above.
function M.section(path, title)
  local found, level
  for line in assert(io.open(path)):lines() do
    local marks, name = line:match "^(#+)%s+(.*)$"
    if marks and found and #marks <= level then break end
    if found then found[#found + 1] = line end
    if name == title then found, level = {}, #marks end
  end
  return found and table.concat(found, "\n")
end

--- The commands of a shell fence, continued lines joined, comments left out.
function M.commands(text)
  local list = {}
  for line in text:gsub("\\\n%s*", " "):gmatch "[^\n]+" do
    line = line:gsub("%s+#.*$", ""):gsub("^#.*$", "")
    if line:find "%S" then list[#list + 1] = line end
  end
  return list
end

--- A whole file.
function M.text(path)
  local f = assert(io.open(path), path)
  local text = f:read "a"
  f:close()
  return text
end

-- ---- sentences

-- What is no prose by itself: headings, tables, comments, pictures.
local function is_apart(line) return line:match "^%s*$" or line:match "^[#|]" or line:match "^<" or line:match "^!%[" end

-- The paragraphs of a page, each as { line =, text = }; an item of a list is one. Fences and indented code are left out.
local function paragraphs(path)
  local list, number, open, current = {}, 0, false, nil
  for line in assert(io.open(path)):lines() do
    number = number + 1
    local fence = line:match "^```"
    if fence then open = not open end
    local item = line:match "^%s*[*-]%s+(.*)$" or line:match "^%s*%d+%.%s+(.*)$"
    if fence or open or is_apart(line) or line:match "^    " and not (current or item) then current = nil
    elseif current and not item then current.text = current.text .. " " .. line
    else
      current = { line = number, text = item or line }
      list[#list + 1] = current
    end
  end
  return list
end

-- A sentence ends at a stop; the dots of "softmax, ..." are none.
local function ends(word) return word:match "[.!?][)\"'*]*$" and not word:match "%.%.%.[)]*$" end

--- The sentences of a page's prose: { { line = where its paragraph begins, words =, text = }, ... }. Code is one word, and
--- a sentence of three links or more is a list of links, which is left out.
function M.sentences(path)
  local found = {}
  for _, paragraph in ipairs(paragraphs(path)) do
    local text = paragraph.text:gsub("``.-``", "`code`"):gsub("`[^`]*`", "`code`"):gsub("%[([^%]]*)%]%([^%)]*%)", "\1%1")
    local words, links = {}, 0
    for word in (text .. " ."):gmatch "%S+" do
      links = links + select(2, word:gsub("\1", ""))
      if word:find "%w" then words[#words + 1] = word:gsub("\1", "") end
      if #words > 0 and (ends(word) or word == ".") then
        if links < 3 then found[#found + 1] = { line = paragraph.line, words = #words, text = table.concat(words, " ") } end
        words, links = {}, 0
      end
    end
  end
  return found
end

--- Every page below a folder, behind those of `list`.
function M.below(folder, list)
  for _, name in ipairs(assert(core.fs.list(folder))) do
    local path = folder .. "/" .. name
    if core.fs.kind(path) == "folder" then M.below(path, list)
    elseif name:match "%.md$" then list[#list + 1] = path end
  end
  return list
end

--- Two sets of names, the program's and the page's: raise at what one of them lacks.
function M.same(real, documented, page, what)
  for name in pairs(real) do assert(documented[name] ~= nil, ("%s says nothing of the %s '%s'"):format(page, what, name)) end
  for name in pairs(documented) do assert(real[name] ~= nil, ("%s: there is no %s '%s'"):format(page, what, name)) end
end

--- The names in the first cells of a page's tables, below headings that match: { name = row }.
function M.named(path, section, pattern)
  local found = {}
  for _, row in ipairs(M.rows(path)) do
    for _, name in ipairs(row.section:find(section) and row.names or {}) do
      name = name:match(pattern or "^.*$")
      if name then found[name] = row end
    end
  end
  return found
end

return M
