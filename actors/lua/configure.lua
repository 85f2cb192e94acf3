-- Gives the wallet a newer access document; every process learns of it at its next admission.
--
-- KEYS  1 meta  2 wallet
-- ARGV  1 version  2 document
-- Reply { 'ok' } it is there, or a newer one is  { 'absent' } no wallet here: hydration will bring it

local w = redis.call('HMGET', KEYS[2], 'epoch', 'version')
if not w[1] or w[1] ~= redis.call('HGET', KEYS[1], 'epoch') then return { 'absent' } end
if tonumber(w[2]) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[2], 'version', ARGV[1], 'document', ARGV[2])
end
return { 'ok' }
