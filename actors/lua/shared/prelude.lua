-- Numbers and time, for every script. This file, window.lua, records.lua, free_credit.lua,
-- wallet.lua, budgets.lua, limits.lua, leases.lua and markers.lua come before the scripts in one
-- library. Redis runs the library once, when it is loaded.
--
-- Money is a whole number of nano-USD below 2^53, so Lua's doubles add it exactly. Money enters and
-- leaves in packed records of little-endian doubles, never as text.

-- `begin` of records.lua sets these: Redis does not offer the functions while it loads a library.
local floor, min, max, pack, unpack_record, string_sub, string_byte, redis_call

local AMOUNT_MAX = 9007199254740991

-- Stops the script, before its first write, if `n` is not a whole amount in range: our own bug.
local function amount(n)
  if n < 0 or n > AMOUNT_MAX or n % 1 ~= 0 then
    error(string.format('not an amount: %.3f', n))
  end
  return n
end

-- A whole number as text, for ids and fields. '%d' is exact here: this Lua prints it through a
-- 64-bit integer. tostring() and '..' would give 1e+14.
local function whole(n)
  return string.format('%d', n)
end

-- Milliseconds on Redis's clock, or the time that a test sets; 0 means none.
local function now_ms(given)
  if given > 0 then return given end
  local time = redis_call('TIME')
  local us = tonumber(time[2])
  return time[1] * 1000 + (us - us % 1000) / 1000
end

-- The UTC month of a day since 1970, as 202611, and the first day of that month (days to civil
-- date, Howard Hinnant's algorithm).
local function month_of_day(day)
  local days = day + 719468
  local era = floor(days / 146097)
  local day_of_era = days - era * 146097
  local year_of_era = floor((day_of_era - floor(day_of_era / 1460)
    + floor(day_of_era / 36524) - floor(day_of_era / 146096)) / 365)
  local day_of_year = day_of_era - (365 * year_of_era + floor(year_of_era / 4)
    - floor(year_of_era / 100))
  local shifted = floor((5 * day_of_year + 2) / 153)
  local month = shifted < 10 and shifted + 3 or shifted - 9
  local year = year_of_era + era * 400 + (month <= 2 and 1 or 0)
  return year * 100 + month, day - day_of_year + floor((153 * shifted + 2) / 5)
end

-- The UTC month of a time, as 202611. The month of the latest day is cached.
local last_day, last_month, last_first
local function month_of(ms)
  local day = (ms - ms % 86400000) / 86400000
  if day ~= last_day then
    last_day = day
    last_month, last_first = month_of_day(day)
  end
  return last_month
end

-- The start of the UTC month of a time.
local function month_start(ms)
  month_of(ms)
  return last_first * 86400000
end
