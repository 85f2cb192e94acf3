-- Removes expired free credit from the balance of an account that makes no calls.
--
-- KEYS  1 bucket  2 wallet  3 events
-- ARGV  1 packed: now_ms or 0  2 account
-- Reply { 'ok' }  { 'recover' }  { 'hydrate' }

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
local w = read_wallet(KEYS[2], bucket.epoch)
if not w then return { 'hydrate' } end
local given = unpack_record('<d', ARGV[1])
local fault = expire_free(KEYS[3], w, ARGV[2], now_ms(given))
if fault then return fault end
write_wallet(KEYS[2], w)
return { 'ok' }
