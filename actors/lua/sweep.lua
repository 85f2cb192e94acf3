-- Resolves a hold without an owner: the lease of its process has ended, or, if it belongs to no
-- process, its own deadline has passed. The hold is settled to the last checkpoint.
--
-- KEYS  1 bucket  2 wallet  3 key  4 holds  5 events  6 op  7 leases  8.. the marker, if the hold
--       has one, then the budgets, if it names any
-- ARGV  1 packed: now_ms or 0, how long to keep the reply, ms, has a marker (0/1)  2 request
--       3 owner  4 outcome
-- Reply { 'ok' }  { 'alive' } its owner is alive  { 'gone' } nothing to resolve

local given, keep_ms, marks = unpack_record('<ddd', ARGV[1])
local bytes = redis_call('HGET', KEYS[4], ARGV[2])
if not bytes then return { 'gone' } end
local hold = parse_hold(bytes)
local ends = hold.deadline > 0 and hold.deadline
  or tonumber(redis_call('HGET', KEYS[7], ARGV[3]) or 0)
if ends > now_ms(given) then return { 'alive' } end
local w, k = of_hold(KEYS, hold, ARGV[2])
if not w then
  -- Remove the hold also without a wallet, because no other script would remove it.
  redis_call('HDEL', KEYS[4], ARGV[2])
  return { 'gone' }
end

local charged, charged_free = resolve(KEYS, w, k, hold, hold.checkpoint, EXPIRED, ARGV[2], ARGV[4])
if not charged then return charged_free end
if marks > 0 then end_claim(KEYS[8], w.epoch, ARGV[2], charged, 0) end
if KEYS[8 + marks] then settle_budgets(KEYS[8 + marks], w.epoch, hold, charged) end
local swept = pack('<dddddd', charged, charged_free, hold.paid + hold.free, hold.free, hold.month,
  w.epoch)
write_resolved(KEYS, w, k, ARGV[2], 'X' .. swept, keep_ms)
return { 'ok' }
