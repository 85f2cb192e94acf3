-- Removes the replies that settled calls left in the place of their holds. Open holds stay.
--
-- KEYS  1 holds  2.. op of each request, to keep its reply there for a repeat; or none
-- ARGV  1 packed: how long to keep them, ms  2.. requests
-- Reply { 'ok' }

local keep_ms = whole(unpack_record('<d', ARGV[1]))
local records, ended, count = redis_call('HMGET', KEYS[1], unpack(ARGV, 2)), {}, 0
for i = 2, #ARGV do
  local bytes = records[i - 1]
  if bytes and is_ended(bytes) then
    if KEYS[i] then remember(KEYS[i], string_sub(bytes, HOLD_BYTES + 1), keep_ms) end
    count = count + 1
    ended[count] = ARGV[i]
  end
end
if count > 0 then redis_call('HDEL', KEYS[1], unpack(ended)) end
return { 'ok' }
