-- Removes a wallet that is idle and of which Postgres has every entry. One of an older
-- epoch is void: nobody will use it again, nor the holds that it left.
--
-- KEYS  1 meta  2 wallet  3 holds
-- ARGV  1 now_ms or ''  2 seq in the ledger  3 idle_ms
-- Reply { 'ok' }  { 'kept' }

local w = redis.call('HMGET', KEYS[2], 'seq', 'used', 'epoch')
if not w[1] or now_ms(ARGV[1]) - stored(w[2]) < tonumber(ARGV[3]) then return { 'kept' } end
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and w[3] ~= epoch then
  redis.call('DEL', KEYS[2], KEYS[3])
  return { 'ok' }
end
if w[1] ~= ARGV[2] then return { 'kept' } end
if redis.call('EXISTS', KEYS[3]) == 1 then return { 'kept' } end
redis.call('DEL', KEYS[2])
redis.call('HINCRBY', KEYS[1], 'evictions', 1)
return { 'ok' }
