-- Removes free credit that has ended from the balance of an account.
--
-- KEYS  1 bucket  2 wallet  3 events
-- ARGV  1 packed: now_ms or 0, the time of Postgres, ms  2 account
-- Reply { 'ok', packed seq, held_free, the time by both clocks }  { 'recover' }  { 'hydrate' }

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
local w = read_wallet(KEYS[2], bucket.epoch)
if not w then return { 'hydrate' } end
local given, other = unpack_record('<dd', ARGV[1])
-- One clock that is wrong must not end free credit (D-144).
local time = min(now_ms(given), other)
local fault = expire_free(KEYS[3], w, ARGV[2], time)
if fault then return fault end
write_wallet(KEYS[2], w)
return { 'ok', pack('<ddd', w.seq, w.held_free, time) }
