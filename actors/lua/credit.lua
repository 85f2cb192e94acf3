-- Applies one credit. Credits of an account are numbered 1, 2, 3 ... in Postgres and applied in
-- that order, so the last number applied is all that is needed to apply each exactly once.
--
-- KEYS  1 meta  2 wallet  3 journal
-- ARGV  1 now_ms or ''  2 account  3 number  4 balance  5 amount  6 expires_ms or ''
-- Reply { 'ok' }  { 'already' }  { 'gap', last number applied }  { 'recover' }  { 'hydrate' }

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return { 'recover' } end
local w = redis.call('HMGET', KEYS[2], 'epoch', 'credits')
if w[1] ~= epoch then return { 'hydrate' } end
local number, applied = tonumber(ARGV[3]), stored(w[2])
if number <= applied then return { 'already' } end
if number ~= applied + 1 then return { 'gap', applied } end

local k = { meta = KEYS[1], wallet = KEYS[2], journal = KEYS[3], account = ARGV[2] }
apply_credit(k, now_ms(ARGV[1]), {
  number = ARGV[3], purse = ARGV[4], amount = ARGV[5], expires = ARGV[6],
})
return { 'ok' }
