-- Request windows: how many requests came in the last 60 s. Loaded after the prelude.

-- The numbers of a record, the whole record, and where its slots begin.
local WINDOW_NUMBERS, WINDOW, WINDOW_BYTES = '<ddd', '<dddc0', 24

-- A request window: 61 slots of one second. A slot counts until its last request is 60 s old, so no
-- span of 60 s can exceed the limit. Only of the first and of the last slot that counts is the time
-- of the last request known; any other slot counts until its end is 60 s old. The slots of a wide
-- window, which counts tokens, have four bytes instead of two.
local SLOTS, SPAN_MS = 61, 60000

-- A record stores a time as one number: the second, and in its fraction the milliseconds from the
-- last request to the end of the second. A whole number is an unknown time, which counts as the
-- end.
local END_OF_SECOND, FRACTIONS = 999, 1024

local function empty_slots(wide)
  return string.rep('\0', (wide and 4 or 2) * SLOTS)
end

-- Fills `window` with the record in `bytes` after the first `skipped` of them. The slots stay in
-- `bytes` after the first `before`, because a copy of the slots would only cost time.
local function parse_window(window, bytes, skipped)
  local last, first, total = unpack_record(WINDOW_NUMBERS, bytes, skipped + 1)
  window.last, window.first, window.total = floor(last), floor(first), total
  window.last_ms = END_OF_SECOND - (last - window.last) * FRACTIONS
  window.first_ms = END_OF_SECOND - (first - window.first) * FRACTIONS
  window.read_last, window.read_ms = window.last, window.last_ms
  window.bytes, window.before = bytes, skipped + WINDOW_BYTES
  return window
end

local function new_window(wide)
  return parse_window({ wide = wide }, pack(WINDOW, 0, 0, 0, empty_slots(wide)), 0)
end

local function slots_of(window)
  return window.before == 0 and window.bytes or string_sub(window.bytes, window.before + 1)
end

-- The numbers of a window's record.
local function window_numbers(window)
  return window.last + (END_OF_SECOND - window.last_ms) / FRACTIONS,
    window.first + (END_OF_SECOND - window.first_ms) / FRACTIONS, window.total
end

local function window_record(window)
  local last, first, total = window_numbers(window)
  return pack(WINDOW, last, first, total, slots_of(window))
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

-- The time of the last request in a slot, in milliseconds of its second.
local function ms_of(window, second)
  return second == window.first and window.first_ms or second == window.last and window.last_ms
    or second == window.read_last and window.read_ms or END_OF_SECOND
end

-- Moves the first second of a window to the next one from `first` on that counts a request.
local function move_first(window, first)
  while first < window.last and count_at(window, first) == 0 do first = first + 1 end
  window.first_ms = ms_of(window, first)
  window.first = first
end

-- Empties a window and moves it to `second`, with `counted` as the count of that second.
local function restart_window(window, second, counted)
  window.bytes, window.before, window.total = empty_slots(window.wide), 0, counted
  window.last, window.first = second, second
  window.last_ms, window.first_ms = END_OF_SECOND, END_OF_SECOND
  if counted > 0 then set_count(window, second, counted) end
end

local function empty_slot(window, second)
  local count = count_at(window, second)
  if count > 0 then
    window.total = window.total - count
    set_count(window, second, 0)
  end
end

-- Moves the window to `now` and drops counts that are older than it. If the clock is a little
-- behind, the last second seen counts. If the clock jumped back further than the window is long,
-- all counts are moved to now, and leave the window after 61 s at the latest. Returns true in that
-- case: the window must then be written even if it refuses the request.
local function open_window(window, now)
  local second, last = (now - now % 1000) / 1000, window.last
  window.now = now
  if second < last - SLOTS then
    restart_window(window, second, window.total)
    return true
  elseif window.total < 0 then
    -- A build that reads times as whole seconds has written counts to wrong places.
    restart_window(window, second, 0)
  elseif second - last >= SLOTS then
    restart_window(window, second, 0)
  elseif second > last then
    for passed = last + 1, second do empty_slot(window, passed) end
  end
  local first = max(window.first, second - SLOTS + 1)
  if now - first * 1000 - ms_of(window, first) >= SPAN_MS then empty_slot(window, first) end
  move_first(window, first)
  if second > window.last then
    window.last, window.last_ms = second, END_OF_SECOND
    move_first(window, window.first)
  end
  return false
end

-- Counts at the time to which the window was opened.
local function count_in_window(window, weight)
  local last = window.last
  local ms = window.now - last * 1000
  window.last_ms = ms < 0 and END_OF_SECOND or min(ms, END_OF_SECOND)
  if window.first == last then window.first_ms = window.last_ms end
  window.total = window.total + weight
  set_count(window, last, count_at(window, last) + weight)
end

-- Time until a slot leaves the window. It is above 60 s only for a clock that is behind, and older
-- client libraries do not wait longer.
local function leaves_ms(window, second, now)
  local left = second * 1000 + ms_of(window, second) + SPAN_MS - now
  return max(1, min(left, SPAN_MS))
end

-- Time until the oldest counted request leaves the window.
local function reset_ms(window, now)
  return leaves_ms(window, window.first, now)
end

-- Time until `count` of the total has left the window.
local function freed_ms(window, now, count)
  local second = window.first
  while second < window.last do
    count = count - count_at(window, second)
    if count <= 0 then break end
    second = second + 1
  end
  return leaves_ms(window, second, now)
end
