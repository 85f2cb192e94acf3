-- Reads a wallet at one instant.
--
-- KEYS  1 bucket  2 wallet  3 document  4 key
-- ARGV  1 packed: now_ms or 0
-- Reply { 'ok', packed now_ms and month, wallet record, document, key record or '' }
--       { 'recover' }  { 'hydrate' }

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
if not read_wallet(KEYS[2], bucket.epoch) then return { 'hydrate' } end
local given = unpack_record('<d', ARGV[1])
local now = now_ms(given)
return {
  'ok', pack('<dd', now, month_of(now)), redis_call('GET', KEYS[2]),
  redis_call('GET', KEYS[3]) or '', redis_call('GET', KEYS[4]) or '',
}
