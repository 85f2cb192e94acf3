-- Settles a call without a hold. If the sweep expired the hold, takes the rest of the cost as far
-- as balance, cap and budget allow, and writes off the remainder. If the wallet was rebuilt, the
-- amount of the hold is unknown: the whole cost is written off. The account never owes anything. A
-- surplus that the sweep took is given back, free credit only if it has not ended meanwhile.
-- If another call has the idempotency key by now, all that is due is written off (D-751).
--
-- KEYS  1 bucket  2 wallet  3 key  4 op  5 events  6.. the marker, if the call has one, then the
--       budgets, if the call named any
-- ARGV  1 packed: now_ms or 0, admitted_ms, cost, cap, key budget or -1, time for which the reply
--         is kept for a repeat, ms, has a marker (0/1)
--       2 request  3 account, key and metadata between tabs  4 outcome  5.. the content of the
--       marker, and the response that the call is a part of, if it is one; of all
--       budgets packed: number, start of the span, cap
-- Reply packed charged, charged_free, left, owned (see settle): the first two are totals, with the
--         charge of the sweep
--       { 'recover' } the bucket is not set up
--       { 'hydrate' } the sweep charged the call, and Redis no longer has the wallet
--       { 'budgets' } or no longer has a budget: load it, and try again

local given, admitted, cost, cap, budget, keep_ms, marks = unpack_record('<ddddddd', ARGV[1])
local again = answer_again(KEYS[4])
if again then return again end
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
amount(cost)
local now = now_ms(given)
local w = read_wallet(KEYS[2], bucket.epoch)

-- The result of the sweep. A result of an older epoch may never have reached Postgres, and is
-- invalid like its hold.
local charged, charged_free, total, total_free, month = 0, 0, 0, 0, month_of(admitted)
local was_swept = false
local stored = redis_call('GET', KEYS[4])
if stored and string_sub(stored, 1, 1) == 'X' then
  local swept = { unpack_record('<dddddd', string_sub(stored, 2)) }
  if swept[6] == bucket.epoch then
    was_swept = true
    charged, charged_free, total, total_free, month =
      swept[1], swept[2], swept[3], swept[4], swept[5]
  end
end

-- The wallet was evicted since the process looked at it: the cost can neither be taken nor given
-- back.
if was_swept and not w then return { 'hydrate' } end
local budgets, budgets_room = nil, AMOUNT_MAX
local budgets_key = KEYS[6 + marks]
if was_swept and budgets_key then
  budgets, budgets_room = read_late_budgets(budgets_key, ARGV[5 + marks], bucket.epoch)
  if not budgets then return { 'budgets' } end
end

-- The sweep charged the last checkpoint, which is our own count: the call may have cost more or
-- less.
local due = min(cost, total) - charged
local taken_over = marks > 0 and is_taken_over(KEYS[6], bucket.epoch, ARGV[5], ARGV[2])
if taken_over then due = min(due, 0) end
local take_paid, take_free = 0, 0
local k = w and read_key(KEYS[3], bucket.epoch)
if w and due > 0 then
  local room = min(due, cap - month_use(w, month), budgets_room)
  if budget >= 0 then room = min(room, budget - month_use(k, month)) end
  room = max(0, room)
  take_free = min(room, free_at(w, now), total_free - charged_free)
  take_paid = min(room - take_free, w.paid)
elseif w and due < 0 then
  take_paid = -min(-due, charged - charged_free)
  take_free = due - take_paid
end
local taken = take_free + take_paid

local seq = nil
if taken ~= 0 then
  w.paid = w.paid - take_paid
  use_free(w, admitted, take_free, 0)
  return_late(w, admitted, -take_free)
  add_to_month(w, month, taken, 0)
  add_to_month(k, month, taken, 0)
  seq = next_seq(w)
end
local fault = append(KEYS[5], bucket.epoch, w, {
  type = was_swept and LATE or CALL, at = admitted, seq = seq, paid_delta = -take_paid,
  free_delta = -take_free, month = month, held = total, request = ARGV[2],
  text = budgets and ARGV[3] .. '\t' .. names_of(budgets) or ARGV[3],
  written_off = max(0, cost - charged - taken), outcome = ARGV[4],
})
if fault then return fault end
if taken ~= 0 then
  -- The entry has no request id, because the sweep's own repayment may have that id already.
  repay(KEYS[5], w, now, ARGV[3])
  drop_lapsed(KEYS[5], w, { admitted = admitted, text = ARGV[3] }, -take_free)
  write_wallet(KEYS[2], w)
  write_key(KEYS[3], bucket.epoch, k)
  if budgets then charge_late(budgets_key, bucket.epoch, budgets, taken) end
end
if was_swept and marks > 0 and not taken_over then
  local ms = admitted + MARKER_MS - now
  mark_late(KEYS[6], bucket.epoch, ARGV[5], ARGV[2], charged + taken, ms)
end
local answer = settled(charged + taken, charged_free + take_free, w)
remember(KEYS[4], answer, whole(keep_ms))
return answer
