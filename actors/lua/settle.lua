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
local bytes = redis_call('HGET', KEYS[4], ARGV[2])
if not bytes then return answer_again(KEYS[6]) or { 'unresolved' } end
local hold = parse_hold(bytes)
local bucket, w, k = read_call(KEYS[1], KEYS[2], KEYS[3])
-- A hold of an older epoch is invalid: the current wallet never gave its money up.
if not w or hold.epoch ~= bucket.epoch then
  if bucket and hold.epoch ~= bucket.epoch then redis_call('HDEL', KEYS[4], ARGV[2]) end
  return { 'unresolved' }
end

local charged, charged_free = resolve(KEYS, w, k, hold, amount(cost), CALL, ARGV[2], ARGV[3])
if not charged then return charged_free end
if #KEYS > 6 then uncount_limits(KEYS, ARGV, 7, 4, hold.admitted) end
local answer = settled(charged, charged_free, w)
write_ended(KEYS, w, k, 'D' .. answer, keep_ms)
return answer
