-- Counts one request of a caller without an account in a window of 61 one-second slots.
--
-- KEYS  1 window
-- ARGV  1 now_ms or ''  2 limit
-- Reply { allowed (0/1), remaining, reset_ms }

local now, limit = now_ms(ARGV[1]), tonumber(ARGV[2])
local window = open_window(KEYS[1], now)
local allowed = window.total < limit and 1 or 0
if allowed == 1 then count_in_window(KEYS[1], window, 1) end
return { allowed, math.max(0, limit - window.total), reset_ms(window, now) }
