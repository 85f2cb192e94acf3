-- Charges a hold of this process the cost of its call, at most the hold, and returns the rest. A
-- release is a settlement at 0. The reply replaces the hold, for a repeat of the script, until the
-- process removes the reply some time later (forget_ended.lua).
--
-- KEYS  1 bucket  2 wallet  3 key  4 holds  5 events  6.. the marker, if the call has one, then
--       limits to take back from, then the budgets if the call named any
-- ARGV  1 packed: cost; then, if the call has a marker, the time until which its response may go on
--         after this call, or 0  2 request  3 outcome
--       4.. of each limit: kind, amount to take back (see limits.lua)
-- Reply packed charged, charged_free, left, owned  `left` is neither spent nor held, `owned` is the
--         paid balance with the part that is held; both are below 0 without a wallet
--       { 'unresolved' } no such hold: it expired, or its wallet was rebuilt; use settle_late

local bytes = redis_call('HGET', KEYS[4], ARGV[2])
if not bytes then return { 'unresolved' } end
local hold = parse_hold(bytes)
local again = reply_in(hold)
if again then return again end
local w, k = of_hold(KEYS, hold, ARGV[2])
if not w then return { 'unresolved' } end

local cost = amount(unpack_record('<d', ARGV[1]))
local charged, charged_free = resolve(KEYS, w, k, hold, cost, CALL, ARGV[2], ARGV[3])
if not charged then return charged_free end
if #KEYS > 5 then
  local first = 6
  if #ARGV[1] > 8 then
    local _, goes_on = unpack_record('<dd', ARGV[1])
    end_claim(KEYS[6], w.epoch, ARGV[2], charged, goes_on)
    first = 7
  end
  settle_counts(KEYS, ARGV, first, w.epoch, hold, charged)
end
local answer = settled(charged, charged_free, w)
redis_call('HSET', KEYS[4], ARGV[2], ended_record(answer))
write_call(KEYS[2], w, KEYS[3], k)
return answer
