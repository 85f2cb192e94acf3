-- Renews the leases of an account's open calls of one process, with the cost each has streamed so
-- far.
--
-- KEYS  1 meta  2 wallet  3 holds  4 leases
-- ARGV  1 now_ms or ''  2 version  3 account  4 lease_ms  5.. request, checkpoint, request, ...
-- Reply { version, document or '', lost request, ... } the document only when the version differs

local now = now_ms(ARGV[1])
local w = redis.call('HMGET', KEYS[2], 'version', 'epoch')
local present = w[2] and w[2] == redis.call('HGET', KEYS[1], 'epoch')
local version = present and w[1] or ''
local document = ''
if present and version ~= ARGV[2] then document = redis.call('HGET', KEYS[2], 'document') end
local reply = { version, document }
local expiry = money(now + tonumber(ARGV[4]))
-- A removal comes first: Redis lets it run when it is out of memory, and then all that follows.
redis.call('ZREM', KEYS[4], '')
for i = 5, #ARGV, 2 do
  local record = present and redis.call('HGET', KEYS[3], ARGV[i])
  if record then
    local hold = parse_hold(record)
    local checkpoint = math.min(amount(ARGV[i + 1]), hold.paid + hold.free)
    if checkpoint > hold.checkpoint then
      hold.checkpoint = checkpoint
      redis.call('HSET', KEYS[3], ARGV[i], hold_record(hold))
    end
    redis.call('ZADD', KEYS[4], 'XX', expiry, ARGV[3] .. '/' .. ARGV[i])
  else
    reply[#reply + 1] = ARGV[i]
  end
end
return reply
