-- Gives the wallet a newer access document; every process learns of it at its next admission.
--
-- KEYS  1 meta  2 wallet
-- ARGV  1 version  2 document
-- Reply { 'ok' } it is there, or a newer one is  { 'absent' } no wallet here: hydration will bring
-- it

local epoch = redis.call('HGET', KEYS[1], 'epoch')
local w = redis.call('HMGET', KEYS[2], 'epoch', 'version')
if not w[1] or w[1] ~= epoch then
  -- Who is building the wallet at this moment may have read the document before: it must read
  -- again.
  if epoch then redis.call('HINCRBY', KEYS[1], 'evictions', 1) end
  return { 'absent' }
end
if tonumber(w[2]) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[2], 'version', ARGV[1], 'document', ARGV[2])
end
return { 'ok' }
