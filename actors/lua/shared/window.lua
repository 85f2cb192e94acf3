-- Request windows: how many requests came in the last 60 s. Loaded after the prelude.

-- The numbers of a record, the whole record, and where its slots begin.
local WINDOW_NUMBERS, WINDOW, WINDOW_BYTES = '<ddd', '<dddc0', 24

-- A request window: 61 slots of one second. The oldest slot counts fully, so no span of 60 s can
-- exceed the limit. The slots of a wide window, which counts tokens, have four bytes and not two.
local SLOTS = 61

local function empty_slots(wide)
  return string.rep('\0', (wide and 4 or 2) * SLOTS)
end

-- Fills `window` with the record in `bytes` after the first `skipped` of them. The slots stay in
-- `bytes` after the first `before`, because a copy of the slots would only cost time.
local function parse_window(window, bytes, skipped)
  window.last, window.first, window.total = unpack_record(WINDOW_NUMBERS, bytes, skipped + 1)
  window.bytes, window.before = bytes, skipped + WINDOW_BYTES
  return window
end

local function new_window(wide)
  return { last = 0, first = 0, total = 0, bytes = empty_slots(wide), before = 0, wide = wide }
end

local function slots_of(window)
  return window.before == 0 and window.bytes or string_sub(window.bytes, window.before + 1)
end

local function window_record(window)
  return pack(WINDOW, window.last, window.first, window.total, slots_of(window))
end

local function count_at(window, second)
  if window.wide then
    return (unpack_record('<I4', window.bytes, window.before + second % SLOTS * 4 + 1))
  end
  local at = window.before + second % SLOTS * 2
  local low, high = string_byte(window.bytes, at + 1, at + 2)
  return low + high * 256
end

local function set_count(window, second, count)
  local bytes, before, width, format = window.bytes, window.before, 2, '<H'
  if window.wide then width, format = 4, '<I4' end
  local at = before + second % SLOTS * width
  window.bytes, window.before = string_sub(bytes, before + 1, at) .. pack(format, count)
    .. string_sub(bytes, at + 1 + width), 0
end

-- Moves the first second of a window that ends with `last` to the next second that counts a
-- request.
local function move_first(window, last)
  local first = window.first
  while first < last and count_at(window, first) == 0 do first = first + 1 end
  window.first = first
end

-- Moves the window to `now` and drops counts that are older than its slots. If the clock is a
-- little behind, the last second seen counts. If the clock jumped back further than the window is
-- long, all counts are moved to now, and leave the window after 61 s at the latest. Returns true in
-- that case: the window must then be written even if it refuses the request.
local function open_window(window, now)
  local second, last = (now - now % 1000) / 1000, window.last
  local jumped_back = second < last - SLOTS
  if jumped_back then
    window.bytes, window.before, window.first = empty_slots(window.wide), 0, second
    if window.total > 0 then set_count(window, second, window.total) end
  elseif second <= last then
    second = last
  elseif second - last >= SLOTS then
    window.bytes, window.before, window.total, window.first = empty_slots(window.wide), 0, 0, second
  else
    for passed = last + 1, second do
      local count = count_at(window, passed)
      if count > 0 then
        window.total = window.total - count
        set_count(window, passed, 0)
      end
    end
    window.first = max(window.first, second - SLOTS + 1)
    move_first(window, second)
  end
  window.last = second
  return jumped_back
end

local function count_in_window(window, weight)
  window.total = window.total + weight
  set_count(window, window.last, count_at(window, window.last) + weight)
end

-- Time until a second leaves the window. At most 60 s, because older client libraries do not wait
-- longer.
local function leaves_ms(second, now)
  local left = (second + SLOTS) * 1000 - now
  if left < 1 then return 1 end
  return left < 60000 and left or 60000
end

-- Time until the oldest counted request leaves the window.
local function reset_ms(window, now)
  return leaves_ms(window.first, now)
end

-- Time until this much of the total has left the window.
local function freed_ms(window, now, count)
  local second = window.first
  while second < window.last do
    count = count - count_at(window, second)
    if count <= 0 then break end
    second = second + 1
  end
  return leaves_ms(second, now)
end
