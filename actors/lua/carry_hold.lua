-- Takes over a hold of the first layout that belongs to no process. The wallet was just built from
-- Postgres, where the money of the hold still counts as available.
--
-- KEYS  1 bucket  2 wallet  3 key  4 holds
-- ARGV  1 packed: now_ms or 0, paid, free, month, takes a stream slot (0/1), checkpoint,
--         admitted_ms, lifetime in ms  2 request  3 account, key and metadata between tabs
-- Reply { 'ok' } the hold exists  { 'hydrate' } Redis has no such wallet
--       { 'short' } the wallet does not have its money

local given, paid, free, month, stream, checkpoint, admitted, life_ms =
  unpack_record('<dddddddd', ARGV[1])
local bucket = read_bucket(KEYS[1])
local w = bucket and read_wallet(KEYS[2], bucket.epoch)
if not w then return { 'hydrate' } end
if redis_call('HEXISTS', KEYS[4], ARGV[2]) == 1 then return { 'ok' } end
if amount(paid) > w.paid or amount(free) > w.free then return { 'short' } end
local k = read_key(KEYS[3], bucket.epoch)
redis_call('HSET', KEYS[4], ARGV[2], hold_record({
  epoch = bucket.epoch, paid = paid, free = free, month = month, stream = stream,
  checkpoint = amount(checkpoint), admitted = admitted, deadline = now_ms(given) + life_ms,
  text = ARGV[3],
}))
w.paid, w.free = w.paid - paid, w.free - free
w.held_paid, w.held_free = w.held_paid + paid, w.held_free + free
w.streams = w.streams + stream
add_to_month(w, month, 0, paid + free)
add_to_month(k, month, 0, paid + free)
write_wallet(KEYS[2], w)
write_key(KEYS[3], bucket.epoch, k)
return { 'ok' }
