-- Limits in time, besides the request window of a key; loaded after budgets.lua. The limits are the
-- `keys` of a script from `first_key` to `last_key`; the arguments of each limit are `args` from
-- `first_arg` on.
--   requests      a window that counts every request which no limit of requests refuses
--   requests_day  a UTC day that counts the same requests
--   minute        a window that counts only admitted calls
--   day           a UTC day that counts only admitted calls
--   tokens        a window that counts the tokens of admitted calls
--   tokens_day    a UTC day that counts the tokens of admitted calls

local IS_DAY = { day = true, requests_day = true, tokens_day = true }
local COUNTS_REQUESTS = { requests = true, requests_day = true }

local DAY_MS = 86400000

local function read_window(key, kind)
  local bytes, wide = redis_call('GET', key), kind == 'tokens'
  return bytes and parse_window({ wide = wide }, bytes, 0) or new_window(wide)
end

local function write_window(key, window)
  redis_call('SET', key, window_record(window), 'PX', SLOTS * 1000)
end

local function read_day(key)
  local bytes = redis_call('GET', key)
  if not bytes then return 0, 0 end
  local day, used = unpack_record('<dd', bytes)
  return day, used
end

local function write_day(key, day, used)
  redis_call('SET', key, pack('<dd', day, used), 'PX', 2 * DAY_MS)
end

-- Each limit has four `args`: kind, limit, weight, error code.
local function read_limits(keys, args, first_key, last_key, first_arg, now)
  local limits = {}
  for i = first_key, last_key do
    local a = first_arg + 4 * (i - first_key)
    local limit = {
      key = keys[i], kind = args[a], max = tonumber(args[a + 1]), weight = tonumber(args[a + 2]),
      code = args[a + 3],
    }
    if IS_DAY[limit.kind] then
      local day, used = read_day(limit.key)
      local today = floor(now / DAY_MS)
      -- If the clock went back by a day, the last day seen continues, so that no day is counted
      -- again. After a larger jump, the whole count moves to today, so that it ends tomorrow.
      limit.day = day > today + 1 and today or max(today, day)
      limit.used = day >= limit.day and used or 0
      limit.resets = (limit.day + 1) * DAY_MS - now
    else
      limit.window = read_window(limit.key, limit.kind)
      if open_window(limit.window, now) then write_window(limit.key, limit.window) end
      limit.used = limit.window.total
      limit.resets = reset_ms(limit.window, now)
    end
    limit.is_exceeded = limit.used + limit.weight > limit.max
    limits[#limits + 1] = limit
  end
  return limits
end

local function count_limit(limit)
  limit.used = limit.used + limit.weight
  if limit.window then
    count_in_window(limit.window, limit.weight)
    write_window(limit.key, limit.window)
  else
    write_day(limit.key, limit.day, limit.used)
  end
end

-- Returns whether a limit of requests is full (the key's window or one of these), and the first
-- other limit that the call would exceed.
local function check_limits(limits, full)
  local exceeded = nil
  for _, l in ipairs(limits) do
    if COUNTS_REQUESTS[l.kind] then full = full or l.is_exceeded
    elseif not exceeded and l.is_exceeded then exceeded = l
    end
  end
  return full, exceeded
end

-- Counts a request in the window of its key and in every other limit of requests.
local function count_request(window, limits)
  count_in_window(window, 1)
  if not limits then return end
  for _, l in ipairs(limits) do
    if COUNTS_REQUESTS[l.kind] then count_limit(l) end
  end
end

-- Counts an admitted call against the limits that count only admitted calls.
local function count_admitted(limits)
  for _, l in ipairs(limits) do
    if not COUNTS_REQUESTS[l.kind] then count_limit(l) end
  end
end

-- The limit of requests with the least left. Returns the limit, the number of requests left, the
-- time until its reset, and its kind, which is nil for the window of the key.
local function closest_window(window, limit, limits, now)
  local most, total, resets, kind = limit, window.total, reset_ms(window, now), nil
  if limits then
    for _, l in ipairs(limits) do
      if COUNTS_REQUESTS[l.kind] and l.max - l.used < most - total then
        most, total, resets, kind = l.max, l.used, l.resets, l.kind
      end
    end
  end
  local remaining = most - total
  return most, remaining > 0 and remaining or 0, resets, kind
end

-- Time until a call that exceeds a limit fits: its weight may be that of many earlier calls.
local function fits_ms(limit, now)
  if not limit.window then return limit.resets end
  return freed_ms(limit.window, now, limit.used + limit.weight - limit.max)
end

-- The numbers of a refusal, packed as admit.lua replies them. A full window is open again at its
-- reset, an exceeded limit once the call fits; for open calls there is no such time.
local function refusal_numbers(now, window, limit, limits, left, exceeded, refused_by)
  local most, remaining, resets, kind = closest_window(window, limit, limits, now)
  local by_calls, by_window = refused_by == 'calls', refused_by == 'requests'
  local retry = resets
  if by_calls then retry = 1000
  elseif exceeded and not by_window then retry = fits_ms(exceeded, now)
  end
  local by_day = refused_by == 'requests' and kind == 'requests_day'
  local by = by_calls and 1 or refused_by == 'tokens' and 2 or by_day and 3
    or refused_by == 'tokens_day' and 4 or 0
  return pack('<ddddddd', now, most, remaining, resets, left, retry, by)
end

-- Gives back the counts of a call's admission, if they still count. Each limit has two `args`:
-- kind, and the amount to give back.
local function uncount_limits(keys, args, first_key, last_key, first_arg, admitted)
  for i = first_key, last_key do
    local a = first_arg + 2 * (i - first_key)
    local key, back = keys[i], tonumber(args[a + 1])
    if IS_DAY[args[a]] then
      local day, used = read_day(key)
      if day == floor(admitted / DAY_MS) then write_day(key, day, max(0, used - back)) end
    else
      local window = read_window(key, args[a])
      local second = floor(admitted / 1000)
      -- After the window has moved on, the slot belongs to another second.
      local counts = second > window.last - SLOTS and second <= window.last
      local taken = counts and min(back, count_at(window, second)) or 0
      if taken > 0 then
        set_count(window, second, count_at(window, second) - taken)
        window.total = window.total - taken
        move_first(window, window.first)
        write_window(key, window)
      end
    end
  end
end

-- Corrects the counts of a settled call: in its limits, which are the `keys` from `first_key` on
-- with their arguments from the fourth on, and in its budgets, if there is one more key.
local function settle_counts(keys, args, first_key, epoch, hold, charged)
  local last = first_key - 1 + (#args - 3) / 2
  uncount_limits(keys, args, first_key, last, 4, hold.admitted)
  if last < #keys then settle_budgets(keys[#keys], epoch, hold, charged) end
end
