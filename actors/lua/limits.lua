-- What is counted against a limit in time: windows of a minute, and days. Put behind the prelude.

-- A request window: 61 slots of one second, each 'second * 10^6 + count'. The oldest slot counts
-- whole, so no 60 s, however they are cut, hold more than the limit. `first` is the oldest second
-- that counts anything. A clock a little behind is held at the last second seen; after a jump back
-- beyond the window all that is counted counts as of now, so that it leaves 61 s later at the
-- latest.
local SLOTS, SCALE = 61, 1000000

local function count_in(packed, second)
  local n = tonumber(packed or 0)
  return math.floor(n / SCALE) == second and n % SCALE or 0
end

local function restart_window(key, second, total)
  local text, slot = string.format('%.0f', second), string.format('%.0f', second * SCALE + total)
  local fields = { 'last', text, 'first', text, 'total', total }
  for i = 0, SLOTS - 1 do
    fields[#fields + 1] = 'c' .. i
    fields[#fields + 1] = i == second % SLOTS and slot or '0'
  end
  redis.call('HSET', key, unpack(fields))
  redis.call('PEXPIRE', key, SLOTS * 1000)
end

-- Reads the window as it stands at `now`, and writes nothing but after a far jump back.
local function open_window(key, now)
  local second = math.floor(now / 1000)
  local state = redis.call('HMGET', key, 'last', 'first', 'total', 'c' .. second % SLOTS)
  local last, oldest, total = stored(state[1]), stored(state[2]), stored(state[3])
  local slot = state[4]
  if second < last - SLOTS then
    restart_window(key, second, total)
    last, oldest, slot = second, second, string.format('%.0f', second * SCALE + total)
  elseif second < last then
    second = last
    slot = redis.call('HGET', key, 'c' .. second % SLOTS)
  end
  local first = oldest
  if last <= second - SLOTS then total = 0 end
  while total > 0 do
    local leaves = first <= second - SLOTS
    if not leaves and first == oldest then break end
    local count = count_in(redis.call('HGET', key, 'c' .. first % SLOTS), first)
    if not leaves and count > 0 then break end
    if leaves then total = total - count end
    first = first + 1
  end
  if total == 0 then first = second end
  return { second = second, last = last, first = first, total = total, slot = slot }
end

local function count_in_window(key, window, weight)
  local second = window.second
  window.total = window.total + weight
  redis.call('HSET', key, 'last', money(second), 'first',
    money(window.first), 'total', window.total, 'c' .. second % SLOTS,
    money(second * SCALE + count_in(window.slot, second) + weight))
  if second > window.last then redis.call('PEXPIRE', key, SLOTS * 1000) end
end

-- Until the oldest counted request leaves the window.
local function reset_ms(window, now)
  return money(math.max((window.first + SLOTS) * 1000 - now, 1))
end

-- Limits that a call has beside the window of its key. They are the KEYS from `first_key` on, and
-- four ARGV each from `first_arg` on: kind, limit, weight, error code.
--   requests  a window in which every request counts that all such windows let through
--   minute    a window in which only admitted calls count
--   day       a UTC day in which only admitted calls count
local DAY_MS = 86400000

local function read_limits(first_key, first_arg, now)
  local limits = {}
  for i = first_key, #KEYS do
    local a = first_arg + 4 * (i - first_key)
    local limit = {
      key = KEYS[i], kind = ARGV[a], max = tonumber(ARGV[a + 1]), weight = tonumber(ARGV[a + 2]),
      code = ARGV[a + 3],
    }
    if limit.kind == 'day' then
      local state = redis.call('HMGET', limit.key, 'day', 'used')
      -- A clock that jumps back stays in the last day seen, so that no day is counted anew.
      limit.day = math.max(math.floor(now / DAY_MS), stored(state[1]))
      limit.used = limit.day == stored(state[1]) and stored(state[2]) or 0
      limit.resets = money((limit.day + 1) * DAY_MS - now)
    else
      limit.window = open_window(limit.key, now)
      limit.used = limit.window.total
      limit.resets = reset_ms(limit.window, now)
    end
    limits[#limits + 1] = limit
  end
  return limits
end

local function exceeds(limit)
  return limit.used + limit.weight > limit.max
end

local function count_limit(limit)
  if limit.window then return count_in_window(limit.key, limit.window, limit.weight) end
  redis.call('HSET', limit.key, 'day', money(limit.day), 'used', money(limit.used + limit.weight))
  redis.call('PEXPIRE', limit.key, 2 * DAY_MS)
end

-- Takes back what a call counted when it was admitted, as far as that still counts. They are the
-- KEYS from `first_key` on, and two ARGV each from `first_arg` on: kind, how much to take back.
local function uncount_limits(first_key, first_arg, admitted)
  for i = first_key, #KEYS do
    local a = first_arg + 2 * (i - first_key)
    local key, back = KEYS[i], tonumber(ARGV[a + 1])
    if ARGV[a] == 'day' then
      local state = redis.call('HMGET', key, 'day', 'used')
      if stored(state[1]) == math.floor(admitted / DAY_MS) then
        redis.call('HSET', key, 'used', money(math.max(0, stored(state[2]) - back)))
      end
    else
      local second = math.floor(admitted / 1000)
      local state = redis.call('HMGET', key, 'total', 'c' .. second % SLOTS, 'first')
      -- A second before the first that counts has left the total already, if not its slot.
      local counted = second >= stored(state[3]) and math.min(back, count_in(state[2], second)) or 0
      if counted > 0 then
        redis.call('HSET', key, 'total', stored(state[1]) - counted,
          'c' .. second % SLOTS, money(tonumber(state[2]) - counted))
      end
    end
  end
end
