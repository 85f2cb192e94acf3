-- Resolves a hold whose lease ran out: its owner is gone. It is settled to the last checkpoint.
--
-- KEYS  1 meta  2 wallet  3 holds  4 leases  5 op  6 journal
-- ARGV  1 now_ms or ''  2 account  3 request  4 outcome  5 how long to keep the answer, ms
-- Reply { 'ok', charged }  { 'alive' } the lease was renewed  { 'gone' } nothing to resolve

local member = ARGV[2] .. '/' .. ARGV[3]
local lease = redis.call('ZSCORE', KEYS[4], member)
if not lease then return { 'gone' } end
if tonumber(lease) > now_ms(ARGV[1]) then return { 'alive' } end
local record = redis.call('HGET', KEYS[3], ARGV[3])
local epoch = redis.call('HGET', KEYS[2], 'epoch')
if not record or not epoch or epoch ~= redis.call('HGET', KEYS[1], 'epoch') then
  redis.call('ZREM', KEYS[4], member)
  return { 'gone' }
end

local hold = parse_hold(record)
local k = { meta = KEYS[1], wallet = KEYS[2], holds = KEYS[3], leases = KEYS[4], journal = KEYS[6] }
local charged, charged_free = resolve(k, hold, hold.checkpoint, {
  account = ARGV[2], id = ARGV[3], type = 'expired', outcome = ARGV[4],
})
redis.call('SET', KEYS[5], table.concat({
  'expired', money(charged), money(charged_free), money(hold.paid + hold.free), money(hold.free),
  hold.month, epoch,
}, ' '), 'PX', ARGV[5])
return { 'ok', money(charged) }
