-- Settles a call whose hold is gone: the sweep expired it, or its wallet was rebuilt meanwhile.
-- Takes what is still owed as far as balance, cap and budget allow; the rest is written off, never
-- owed.
--
-- KEYS  1 meta  2 wallet  3 op  4 journal
-- ARGV  1 now_ms or ''  2 account  3 key  4 request  5 admitted_ms  6 cost  7 cap  8 key budget or
-- ''
--       9 facts  10 outcome  11 how long to keep the answer for a repeat, ms
-- Reply { 'ok', charged, charged_free, left or '' } in all, what the sweep took included
--       { 'recover' } the bucket is not set up

local meta, wallet, op, journal = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local again = answer_again(op)
if again[1] == 'ok' then return again end
local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then return { 'recover' } end

local now, cost = now_ms(ARGV[1]), amount(ARGV[6])
local cap, budget = amount(ARGV[7]), ARGV[8] ~= '' and amount(ARGV[8]) or nil
local charged, charged_free, total, total_free, month = 0, 0, 0, 0, month_of(tonumber(ARGV[5]))
-- What was swept under an older epoch may never have reached the ledger: it is void like its hold.
local expired = '^expired (%d+) (%d+) (%d+) (%d+) (%d+) ' .. epoch .. '$'
local a, b, c, d, m = string.match(redis.call('GET', op) or '', expired)
if a then
  charged, charged_free, total, total_free, month =
    tonumber(a), tonumber(b), tonumber(c), tonumber(d), m
end

-- The sweep charged the last checkpoint, by our own count: what the call cost may be more or less.
local owed = math.min(cost, total) - charged
local spent, held = 's' .. month, 'h' .. month
local key_spent, key_held = spent .. ':' .. ARGV[3], held .. ':' .. ARGV[3]
local w = redis.call('HMGET', wallet, 'paid', 'free', 'free_expires', 'held_paid', 'held_free',
  'seq', spent, held, key_spent, key_held)
local is_here = redis.call('HGET', wallet, 'epoch') == epoch
if not is_here then w = {} end
local paid, free = stored(w[1]), stored(w[2])
local room = math.min(owed, cap - stored(w[7]) - stored(w[8]))
if budget then room = math.min(room, budget - stored(w[9]) - stored(w[10])) end
room = math.max(0, room)
local usable_free = (stored(w[3]) == 0 or now < stored(w[3])) and free or 0
local take_free = math.min(room, usable_free, total_free - charged_free)
local take_paid = math.min(room - take_free, paid)
if owed < 0 and is_here then
  take_paid = -math.min(-owed, charged - charged_free)
  take_free = owed - take_paid
end
local taken = take_free + take_paid
local seq = taken ~= 0 and stored(w[6]) + 1 or nil

-- A removal comes first: Redis lets it run when it is out of memory, and then all that follows.
redis.call('DEL', op)
if taken ~= 0 then
  redis.call('HSET', wallet, 'paid', money(paid - take_paid), 'free', money(free - take_free),
    'seq', money(seq), spent, money(stored(w[7]) + taken), key_spent, money(stored(w[9]) + taken))
end
append(meta, journal, {
  type = a and 'late' or 'call', account = ARGV[2], key = ARGV[3], request = ARGV[4],
  at = tonumber(ARGV[5]), facts = ARGV[9], outcome = ARGV[10], seq = seq,
  paid_delta = -take_paid, free_delta = -take_free,
  paid_after = paid - take_paid + stored(w[4]), free_after = free - take_free + stored(w[5]),
  month = month, written_off = math.max(0, cost - charged - taken),
})
local left = is_here and paid - take_paid + free - take_free or nil
return remember(op, charged + taken, charged_free + take_free, left, ARGV[11])
