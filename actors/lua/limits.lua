-- What a call counts against besides the window of its key: put after wallet.lua. The limits are
-- the KEYS from `first_key` on, and some ARGV each from `first_arg` on.
--   requests  a window in which every request counts that all such windows let through
--   minute    a window in which only admitted calls count
--   day       a UTC day in which only admitted calls count

-- The functions on limits, for the calls that have any: most have none and need not make them.
local function limit_functions()
  local day_ms = 86400000

  local function read_window(key)
    local bytes = redis.call('GET', key)
    if not bytes then return new_window() end
    local last, first, total = unpack_record('<ddd', bytes)
    return { last = last, first = first, total = total, slots = string.sub(bytes, 25) }
  end

  local function write_window(key, window)
    redis.call('SET', key, pack('<ddd', window.last, window.first, window.total) .. window.slots,
      'PX', SLOTS * 1000)
  end

  local function read_day(key)
    local bytes = redis.call('GET', key)
    if not bytes then return 0, 0 end
    local day, used = unpack_record('<dd', bytes)
    return day, used
  end

  local function write_day(key, day, used)
    redis.call('SET', key, pack('<dd', day, used), 'PX', 2 * day_ms)
  end

  -- Of each limit four ARGV: kind, limit, weight, error code.
  local function read(first_key, first_arg, now)
    local limits = {}
    for i = first_key, #KEYS do
      local a = first_arg + 4 * (i - first_key)
      local limit = {
        key = KEYS[i], kind = ARGV[a], max = tonumber(ARGV[a + 1]), weight = tonumber(ARGV[a + 2]),
        code = ARGV[a + 3],
      }
      if limit.kind == 'day' then
        local day, used = read_day(limit.key)
        -- A clock that jumps back stays in the last day seen, so that no day is counted anew.
        limit.day = max(floor(now / day_ms), day)
        limit.used = limit.day == day and used or 0
        limit.resets = (limit.day + 1) * day_ms - now
      else
        limit.window = read_window(limit.key)
        if open_window(limit.window, now) then write_window(limit.key, limit.window) end
        limit.used = limit.window.total
        limit.resets = reset_ms(limit.window, now)
      end
      limit.is_exceeded = limit.used + limit.weight > limit.max
      limits[#limits + 1] = limit
    end
    return limits
  end

  local function count(limit)
    limit.used = limit.used + limit.weight
    if limit.window then
      count_in_window(limit.window, limit.weight)
      write_window(limit.key, limit.window)
    else
      write_day(limit.key, limit.day, limit.used)
    end
  end

  -- Takes back what a call counted when it was admitted, as far as that still counts. Of each limit
  -- two ARGV: kind, how much to take back.
  local function uncount(first_key, first_arg, admitted)
    for i = first_key, #KEYS do
      local a = first_arg + 2 * (i - first_key)
      local key, back = KEYS[i], tonumber(ARGV[a + 1])
      if ARGV[a] == 'day' then
        local day, used = read_day(key)
        if day == floor(admitted / day_ms) then write_day(key, day, max(0, used - back)) end
      else
        local window = read_window(key)
        local second = floor(admitted / 1000)
        -- A slot belongs to another second once the window has moved past it.
        local counts = second > window.last - SLOTS and second <= window.last
        local taken = counts and min(back, count_at(window, second)) or 0
        if taken > 0 then
          set_count(window, second, count_at(window, second) - taken)
          window.total = window.total - taken
          write_window(key, window)
        end
      end
    end
  end

  return {
    read = read, count = count, uncount = uncount, read_window = read_window,
    write_window = write_window, write_day = write_day,
  }
end
