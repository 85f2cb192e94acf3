-- Applies one operation. Postgres numbers the operations of an account 1, 2, 3 ..., and they are
-- applied in that order. So the number of the last one is enough to apply each exactly once.
--
-- KEYS  1 bucket  2 wallet  3 events
-- ARGV  1 packed: now_ms or 0, number, amount, expires_ms or 0, created_ms
--       2 account  3 kind  4 balance
-- Reply { 'ok' }  { 'already' }  { 'gap' } an earlier one is missing  { 'recover' }  { 'hydrate' }

local given, number, signed_amount, expires, created = unpack_record('<ddddd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
local w = read_wallet(KEYS[2], bucket.epoch)
if not w then return { 'hydrate' } end
if number <= w.operations then return { 'already' } end
if number ~= w.operations + 1 then return { 'gap' } end
local fault = apply_operation(KEYS[3], w, ARGV[2], now_ms(given), {
  number = number, kind = ARGV[3], balance = ARGV[4], amount = signed_amount, expires = expires,
  created = created,
})
if fault then return fault end
write_wallet(KEYS[2], w)
return { 'ok' }
