-- Builds a wallet from the book of record. Refused when the wallet is here already, or when one was
-- evicted since the book was read: what was read may then be out of date.
--
-- KEYS  1 meta  2 wallet  3 holds
-- ARGV  1 epoch  2 evictions  3 seq  4 paid  5 free  6 free_expires_ms  7 credits  8 version
--       9 document  10.. month field, amount, ...
-- Reply { 'ok' }  { 'present' }  { 'again' } read the book again  { 'recover' }

local m = redis.call('HMGET', KEYS[1], 'epoch', 'evictions')
if not m[1] then return { 'recover' } end
if m[1] ~= ARGV[1] or (m[2] or '0') ~= ARGV[2] then return { 'again' } end
if redis.call('HGET', KEYS[2], 'epoch') == m[1] then return { 'present' } end
local fields = {
  'epoch', ARGV[1], 'seq', ARGV[3], 'paid', money(amount(ARGV[4])), 'free', money(amount(ARGV[5])),
  'free_expires', ARGV[6], 'credits', ARGV[7], 'version', ARGV[8], 'document', ARGV[9],
  'held_paid', '0', 'held_free', '0', 'streams', '0',
}
for i = 10, #ARGV, 2 do
  fields[#fields + 1] = ARGV[i]
  fields[#fields + 1] = money(amount(ARGV[i + 1]))
end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[2], unpack(fields))
return { 'ok' }
