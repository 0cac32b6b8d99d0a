-- A store. function not_me() end
local json = require("json")

local M = {}
local limit, step = 10, 1
M.version = "1.0"

--[[ function fake()
end ]]
--[==[ another ]] one ]==]

--- Makes a store.
function M.new(size)
  local self = setmetatable({ size = size }, { __index = M })
  if size > limit then error("end") elseif size == 0 then return nil end
  return self
end

function M:push(item)
  for i = 1, #self do
    while i > 0 do i = i - step end
    repeat
      local x = [[ end ]]
    until x
  end
  self[#self + 1] = item
end

local function helper(a, ...)
  return function(b) return a + b end
end

M.each = function(self, visit)
  for _, item in ipairs(self) do visit(item) end
end

local add = function(a, b) return a + b end

function M.later()
  error("later: not implemented")
end

function M.todo() --[[ TODO ]] end

return M
