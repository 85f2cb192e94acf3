-- Extends the deadlines of holds that belong to no process.
--
-- KEYS  1 bucket  2 holds
-- ARGV  1 packed: now_ms or 0, how long from now, ms  2.. requests
-- Reply { lost request, ... }

local given, ms = unpack_record('<dd', ARGV[1])
read_bucket(KEYS[1])
local deadline, lost = now_ms(given) + ms, {}
for i = 2, #ARGV do
  local bytes = redis_call('HGET', KEYS[2], ARGV[i])
  if bytes then
    local hold = parse_hold(bytes)
    hold.deadline = deadline
    redis_call('HSET', KEYS[2], ARGV[i], hold_record(hold))
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
