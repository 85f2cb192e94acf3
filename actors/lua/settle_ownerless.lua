-- Charges a hold that belongs to no process the cost of its call, at most the hold, and returns the
-- rest. Any process may repeat this, so the reply is kept for some time.
--
-- KEYS  1 bucket  2 wallet  3 key  4 holds  5 events  6 op  7.. limits to take back from, then the
--       budgets if the call named any
-- ARGV  1 packed: cost, how long to keep the reply for a repeat, ms  2 request  3 outcome
--       4.. of each limit: kind, how much to take back (see limits.lua)
-- Reply see settle

local cost, keep_ms = unpack_record('<dd', ARGV[1])
local bytes = redis_call('HGET', KEYS[4], ARGV[2])
if not bytes then return answer_again(KEYS[6]) or { 'unresolved' } end
local hold = parse_hold(bytes)
local w, k = of_hold(KEYS, hold, ARGV[2])
if not w then return { 'unresolved' } end

local charged, charged_free = resolve(KEYS, w, k, hold, amount(cost), CALL, ARGV[2], ARGV[3])
if not charged then return charged_free end
if #KEYS > 6 then settle_counts(KEYS, ARGV, 7, w.epoch, hold, charged) end
local answer = settled(charged, charged_free, w)
write_resolved(KEYS, w, k, ARGV[2], 'D' .. answer, keep_ms)
return answer
