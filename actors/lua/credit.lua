-- Applies one credit. Credits of an account are numbered 1, 2, 3 ... in Postgres and applied in that
-- order, so the last number applied is all that is needed to apply each exactly once.
--
-- KEYS  1 meta  2 wallet  3 journal
-- ARGV  1 now_ms or ''  2 account  3 number  4 purse  5 amount  6 expires_ms or ''
-- Reply { 'ok' }  { 'already' }  { 'gap', last number applied }  { 'recover' }  { 'hydrate' }

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return { 'recover' } end
local w = redis.call('HMGET', KEYS[2], 'epoch', 'credits', 'paid', 'free', 'held_paid', 'held_free',
  'seq', 'free_expires')
if w[1] ~= epoch then return { 'hydrate' } end
local number, value, applied = tonumber(ARGV[3]), amount(ARGV[5]), stored(w[2])
if number <= applied then return { 'already' } end
if number ~= applied + 1 then return { 'gap', applied } end

local now, paid, free, seq = now_ms(ARGV[1]), stored(w[3]), stored(w[4]), stored(w[7]) + 1
local to_paid = ARGV[4] == 'paid' and value or 0
local to_free = value - to_paid
amount(money(paid + stored(w[5]) + to_paid))
amount(money(free + stored(w[6]) + to_free))
local expires = stored(w[8])
if to_free > 0 and ARGV[6] ~= '' then expires = math.max(expires, tonumber(ARGV[6])) end
redis.call('HSET', KEYS[2], 'paid', money(paid + to_paid), 'free', money(free + to_free),
  'free_expires', money(expires), 'credits', number, 'seq', money(seq))
append(KEYS[1], KEYS[3], {
  type = 'credit', account = ARGV[2], at = now, seq = seq, paid_delta = to_paid, free_delta = to_free,
  paid_after = paid + to_paid + stored(w[5]), free_after = free + to_free + stored(w[6]),
  credit = ARGV[3],
})
return { 'ok' }
