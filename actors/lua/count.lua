-- Counts one request of a caller without an account, in a window of 61 one-second slots.
--
-- KEYS  1 window
-- ARGV  1 packed: now_ms or 0, limit
-- Reply { allowed (0/1), remaining, reset_ms }

local given, limit = unpack_record('<dd', ARGV[1])
local now = now_ms(given)
local window = read_window(KEYS[1])
local jumped_back = open_window(window, now)
local allowed = window.total < limit and 1 or 0
if allowed == 1 then count_in_window(window, 1) end
if allowed == 1 or jumped_back then write_window(KEYS[1], window) end
return { allowed, max(0, limit - window.total), reset_ms(window, now) }
