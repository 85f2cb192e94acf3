-- Charges a hold the cost of its call, at most the hold, and returns the rest. A release is a
-- settlement at 0.
--
-- KEYS  1 bucket  2 wallet  3 key  4 holds  5 events  6 op  7.. limits to take back from
-- ARGV  1 packed: cost, how long to keep the reply for a repeat, ms  2 request  3 outcome
--       4.. of each limit: kind, how much to take back (see limits.lua)
-- Reply packed charged, charged_free, left, owned  `left` is what is neither spent nor held,
--         `owned` the paid balance with what is held of it; both below 0 if there is no wallet
--       { 'unresolved' } no such hold: it expired, or its wallet was rebuilt; use settle_late

local cost, keep_ms = unpack_record('<dd', ARGV[1])
local bytes = redis.call('HGET', KEYS[4], ARGV[2])
if not bytes then return answer_again(KEYS[6]) or { 'unresolved' } end
local hold = parse_hold(bytes)
local bucket = read_bucket(KEYS[1])
local w = bucket and read_wallet(KEYS[2], bucket.epoch)
-- A hold of an older epoch is invalid: the current wallet never gave its money up.
if not w or hold.epoch ~= bucket.epoch then
  if bucket and hold.epoch ~= bucket.epoch then redis.call('HDEL', KEYS[4], ARGV[2]) end
  return { 'unresolved' }
end

local keys = { wallet = KEYS[2], key = KEYS[3], holds = KEYS[4], events = KEYS[5] }
local done, fault = resolve(keys, w, hold, amount(cost), {
  id = ARGV[2], type = CALL, outcome = ARGV[3],
})
if fault then return fault end
if #KEYS > 6 then uncount_limits(KEYS, ARGV, 7, 4, hold.admitted) end
local answer = settled(done)
remember(KEYS[6], answer, whole(keep_ms))
return answer
