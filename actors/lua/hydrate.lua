-- Builds a wallet from Postgres and applies the operations that the ledger lacks, so that no call
-- sees the wallet without them. Does nothing if the wallet exists. Replies `again` if a wallet was
-- evicted, or a document changed, in this bucket after the rows were read: the rows may be stale.
--
-- KEYS  1 bucket  2 wallet  3 document  4 events  5.. the keys with spending
-- ARGV  1 packed: now_ms or 0, epoch, evictions, seq, paid, free, owed, free_expires_ms or 0,
--         operations, version, how many operations follow; then the earlier ends of free credit
--         (see free_credit.lua)
--       2 account  3 document  4.. of each operation: kind, balance, packed number, amount,
--         expires_ms or 0, created_ms; then of each key: packed month, spent, the month before,
--         spent
-- Reply { 'ok' }  { 'present' }  { 'again' } read Postgres again  { 'recover' }

local given, epoch, evictions, seq, paid, free, owed, free_expires, operations, version, pending,
  ends_at = unpack_record('<ddddddddddd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
if bucket.epoch ~= epoch or bucket.evictions ~= evictions then return { 'again' } end
if read_wallet(KEYS[2], epoch) then return { 'present' } end
local now = now_ms(given)
local w = {
  epoch = epoch, version = version, seq = seq, paid = amount(paid), free = amount(free),
  held_paid = 0, held_free = 0, owed = amount(owed), operations = operations,
  free_expires = free_expires, free_since = 0, streams = 0, calls = 0, month = month_of(now),
  spent = 0, held = 0, previous_spent = 0, previous_held = 0, used = 0,
  ends = string_sub(ARGV[1], ends_at),
}
local key_states, first_key = {}, 4 + 3 * pending
for i = 5, #KEYS do
  local month, spent, month_before, spent_before =
    unpack_record('<dddd', ARGV[first_key + i - 5])
  local k = read_key(KEYS[i], epoch)
  k.month, k.spent, k.held, k.previous_spent, k.previous_held = w.month, 0, 0, 0, 0
  for _, record in ipairs({ k, w }) do
    add_to_month(record, month_before, amount(spent_before), 0)
    add_to_month(record, month, amount(spent), 0)
  end
  key_states[i] = k
end

-- The holds of the previous wallet are invalid, so their money is available again, and pays the
-- debt first. The repayment is the first write: if the journal refuses it, nothing is written.
local fault = repay(KEYS[4], w, now, ARGV[2] .. '\t')
if fault then return fault end
redis_call('SET', KEYS[3], ARGV[3])
for i = 5, #KEYS do write_key(KEYS[i], epoch, key_states[i]) end
write_wallet(KEYS[2], w)
for i = 0, pending - 1 do
  local at = 4 + 3 * i
  local number, signed_amount, expires, created = unpack_record('<dddd', ARGV[at + 2])
  fault = apply_operation(KEYS[4], w, ARGV[2], now, {
    number = number, kind = ARGV[at], balance = ARGV[at + 1], amount = signed_amount,
    expires = expires, created = created,
  })
  if fault then return fault end
  -- Write the wallet after each operation: if the journal refuses the next one, this one stays.
  write_wallet(KEYS[2], w)
end
return { 'ok' }
