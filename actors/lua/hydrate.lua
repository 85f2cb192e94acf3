-- Builds a wallet from Postgres, with the credits that its ledger does not have yet, so
-- that no call ever meets it without them. Refused when the wallet is here already, or when one was
-- evicted or its document changed since the ledger was read: what was read may then be out of date.
--
-- KEYS  1 meta  2 wallet  3 holds  4 journal
-- ARGV  1 now_ms or ''  2 account  3 epoch  4 evictions  5 seq  6 paid  7 free  8 free_expires_ms
--       9 credits  10 version  11 document  12 how many credits follow
--       13.. number, balance, amount, expires_ms or '' of each; then month field, amount, ...
-- Reply { 'ok' }  { 'present' }  { 'again' } read the ledger again  { 'recover' }

local m = redis.call('HMGET', KEYS[1], 'epoch', 'evictions')
if not m[1] then return { 'recover' } end
if m[1] ~= ARGV[3] or (m[2] or '0') ~= ARGV[4] then return { 'again' } end
if redis.call('HGET', KEYS[2], 'epoch') == m[1] then return { 'present' } end
local now, first_month = now_ms(ARGV[1]), 13 + 4 * tonumber(ARGV[12])
local total = amount(ARGV[6]) + amount(ARGV[7])
for i = 13, first_month - 1, 4 do total = total + amount(ARGV[i + 2]) end
amount(money(total))
for i = first_month, #ARGV, 2 do amount(ARGV[i + 1]) end

redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[2], 'epoch', ARGV[3], 'seq', ARGV[5], 'paid', money(amount(ARGV[6])),
  'free', money(amount(ARGV[7])), 'free_expires', ARGV[8], 'credits', ARGV[9], 'version', ARGV[10],
  'document', ARGV[11], 'held_paid', '0', 'held_free', '0', 'streams', '0')
for i = first_month, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], money(amount(ARGV[i + 1])))
end
local k = { meta = KEYS[1], wallet = KEYS[2], journal = KEYS[4], account = ARGV[2] }
for i = 13, first_month - 1, 4 do
  apply_credit(k, now, {
    number = ARGV[i], purse = ARGV[i + 1], amount = ARGV[i + 2], expires = ARGV[i + 3],
  })
end
return { 'ok' }
