-- Reads all that a bucket holds of one account at one instant, and the journal behind an entry.
--
-- KEYS  1 meta  2 wallet  3 holds  4 leases  5 journal
-- ARGV  1 now_ms or ''  2 account  3 stream id  4 journal entries at most
-- Reply { now_ms, { meta fields }, { wallet fields }, { hold, ... }, { journal entries } }
--       a hold is { request, lease_ms or '', paid, free, month, stream, checkpoint, key }, or
--       { request, lease_ms or '' } when its record cannot be read

local holds = {}
local records = redis.call('HGETALL', KEYS[3])
for i = 1, #records, 2 do
  local request, hold = records[i], parse_hold(records[i + 1])
  local lease = redis.call('ZSCORE', KEYS[4], ARGV[2] .. '/' .. request) or ''
  local read = { request, lease }
  if hold.paid then
    read = {
      request, lease, money(hold.paid), money(hold.free), hold.month, hold.stream,
      money(hold.checkpoint), hold.key,
    }
  end
  holds[#holds + 1] = read
end
return {
  string.format('%.0f', now_ms(ARGV[1])), redis.call('HGETALL', KEYS[1]),
  redis.call('HGETALL', KEYS[2]), holds,
  redis.call('XRANGE', KEYS[5], '(' .. ARGV[3], '+', 'COUNT', ARGV[4]),
}
