-- Converts the count of one of an account's limits from the first layout, under the same name.
--
-- KEYS  1 limit
-- ARGV  none
-- Reply { 'ok' }

if redis_call('TYPE', KEYS[1]).ok ~= 'hash' then return { 'ok' } end
local day = redis_call('HMGET', KEYS[1], 'day', 'used')
local window = not day[1] and first_layout_window(KEYS[1])
redis_call('DEL', KEYS[1])
if window then write_window(KEYS[1], window)
elseif day[1] then write_day(KEYS[1], tonumber(day[1]), tonumber(day[2] or 0)) end
return { 'ok' }
