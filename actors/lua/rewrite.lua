-- Rewrites a wallet or a key's record in the layout that its bucket has in force.
--
-- KEYS  1 bucket  2 wallet or key
-- ARGV  1 'wallet' or 'key'
-- Reply { 'ok' }

local bucket = read_bucket(KEYS[1])
if not bucket or redis_call('EXISTS', KEYS[2]) == 0 then return { 'ok' } end
if ARGV[1] == 'wallet' then
  local w = read_wallet(KEYS[2], bucket.epoch)
  if w then write_wallet(KEYS[2], w) end
else
  write_key(KEYS[2], bucket.epoch, read_key(KEYS[2], bucket.epoch))
end
return { 'ok' }
