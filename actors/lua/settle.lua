-- Charges a hold what its call cost, at most the hold, and returns the rest. A release is a settle
-- at 0.
--
-- KEYS  1 meta  2 wallet  3 holds  4 leases  5 op  6 journal  7.. limits to take back from
-- ARGV  1 account  2 request  3 cost  4 outcome  5 how long to keep the answer for a repeat, ms
--       6.. of each limit: kind, how much to take back (see limits.lua)
-- Reply { 'ok', charged, charged_free, left } `left` is what neither is spent nor held
--       { 'unresolved' } no such hold: it expired, or its wallet was rebuilt (see settle_late)

local record = redis.call('HGET', KEYS[3], ARGV[2])
if not record then return answer_again(KEYS[5]) end
local w = redis.call('HGET', KEYS[2], 'epoch')
if not w or w ~= redis.call('HGET', KEYS[1], 'epoch') then return { 'unresolved' } end

local k = { meta = KEYS[1], wallet = KEYS[2], holds = KEYS[3], leases = KEYS[4], journal = KEYS[6] }
local hold = parse_hold(record)
local charged, charged_free, left = resolve(k, hold, amount(ARGV[3]), {
  account = ARGV[1], id = ARGV[2], type = 'call', outcome = ARGV[4],
})
uncount_limits(7, 6, hold.admitted)
return remember(KEYS[5], charged, charged_free, left, ARGV[5])
