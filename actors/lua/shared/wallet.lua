-- The arithmetic on a wallet: the ends of holds, and the effects of operations. Loaded after
-- free_credit.lua.

-- Returns the number of open calls of a hold: 0 for a hold that belongs to no process, because no
-- caller waits for its reply, and for that of a brief call, whose deadline is -1 (D-936).
local function calls_of(hold)
  return hold.deadline == 0 and 1 or 0
end

-- The highest amount that a call could hold.
local function spendable(balance, cap_room, budget_room, least_room)
  return max(0, min(balance, cap_room, budget_room, least_room))
end

local function has_holds(w)
  return w.calls > 0 or w.held_paid > 0 or w.held_free > 0
end

-- Pays the debt of reversed payments, as soon as the wallet has paid credit. Returns the fault of
-- the journal, if any.
local function repay(events, w, at, text, request)
  if w.owed <= 0 or w.paid <= 0 then return nil end
  local repaid = min(w.owed, w.paid)
  w.owed, w.paid = w.owed - repaid, w.paid - repaid
  return append(events, w.epoch, w, {
    type = REPAYMENT, at = at, seq = next_seq(w), paid_delta = -repaid,
    text = account_of(text) .. '\t\t', request = request,
  })
end

-- Returns the result of an admission that was sent before: its hold, or the reply of its
-- settlement; otherwise nil. A hold of an older epoch is ignored: the current wallet never reserved
-- its money.
local function sent_before(holds, request, epoch)
  local bytes = redis_call('HGET', holds, request)
  local hold = bytes and parse_hold(bytes)
  return hold and (hold.epoch == epoch or reply_in(hold)) and hold or nil
end

-- The wallet and the key of a hold that is to be settled; nil if the hold is invalid. A hold of an
-- older epoch is invalid, because the current wallet never reserved its money. `keys` as in
-- `resolve`.
local function of_hold(keys, hold, request)
  local bucket, w, k = read_call(keys[1], keys[2], keys[3])
  if w and hold.epoch == bucket.epoch then return w, k end
  if bucket and hold.epoch ~= bucket.epoch then redis_call('HDEL', keys[4], request) end
  return nil
end

-- Ends a hold: charges min(cost, hold), free credit first, and gives back the rest. `keys` are
-- those of settle and sweep: 2 wallet  3 key  4 holds  5 events. Returns the charge, and its part
-- in free credit; the caller then removes the hold and writes the records. If the journal does not
-- take the entry, nothing changes, and it returns nil and the fault.
local function resolve(keys, w, k, hold, cost, type, request, outcome)
  local total = hold.paid + hold.free
  local charged = cost < total and cost or total
  local charged_free = charged < hold.free and charged or hold.free
  local charged_paid = charged - charged_free

  w.paid = w.paid + hold.paid - charged_paid
  use_free(w, hold.admitted, charged_free - hold.free, -hold.free)
  w.held_paid, w.held_free = w.held_paid - hold.paid, w.held_free - hold.free
  w.streams, w.calls = w.streams - hold.stream, w.calls - calls_of(hold)
  add_to_month(w, hold.month, charged, -total)
  add_to_month(k, hold.month, charged, -total)

  local e = call.entry
  e.type, e.at, e.seq = type, hold.admitted, charged > 0 and next_seq(w) or nil
  e.paid_delta, e.free_delta, e.month = -charged_paid, -charged_free, hold.month
  e.held, e.overrun = total, cost - charged
  e.text, e.request, e.outcome = hold.text, request, outcome
  local fault = append(keys[5], w.epoch, w, e)
  if fault then return nil, fault end
  repay(keys[5], w, hold.admitted, hold.text, request)
  drop_lapsed(keys[5], w, hold, hold.free - charged_free)
  return charged, charged_free
end

-- Removes a hold that was resolved, writes the records, and keeps the reply for a repeat for some
-- time (see `remember`). `keys` has 6 op.
local function write_resolved(keys, w, k, request, reply, keep_ms)
  redis_call('HDEL', keys[4], request)
  redis_call('MSET', keys[2], wallet_record(w), keys[3], key_record(w.epoch, k), keys[6], reply)
  redis_call('PEXPIRE', keys[6], whole(keep_ms))
end

-- Stores the reply to a request, for a client library that sends its script again. The first letter
-- is the kind of the reply: 'D' a settled call, 'X' a swept hold, 'R' a refusal, 'S' an admission
-- that was short.
local function remember(op, answer, ms)
  redis_call('SET', op, 'D' .. answer, 'PX', ms)
end

-- The reply to a settlement: charged, free, left, owned. The last two are below 0 without a wallet.
local function settled(charged, charged_free, w)
  return pack('<dddd', charged, charged_free, w and w.paid + w.free or -1,
    w and w.paid + w.held_paid or -1)
end

-- The reply to a repeated settlement: the stored one of the first, or nil.
local function answer_again(op)
  local stored = redis_call('GET', op)
  if stored and string_sub(stored, 1, 1) == 'D' then return string_sub(stored, 2) end
  return nil
end

-- True if the stored reply of a request says that its hold was settled or swept.
local function has_ended(op)
  local stored = redis_call('GET', op)
  local letter = stored and string_sub(stored, 1, 1)
  return letter == 'D' or letter == 'X'
end

-- Applies the next operation to a wallet, with its ledger entry, and pays the debt. Returns the
-- fault of the journal, if any; then nothing was written.
local function apply_operation(events, w, account, now, op)
  -- A forgiven debt adds to no balance, and only a reversal adds to the debt.
  local gain = op.kind == 'forgiven' and 0 or max(0, op.amount)
  local debt = op.kind == 'reversal' and -op.amount or 0
  amount(w.paid + w.held_paid + gain)
  amount(w.free + w.held_free + gain)
  amount(w.owed + max(0, debt))
  local paid_delta, free_delta, owed_delta = 0, 0, 0
  if op.balance == 'free' then
    -- Remove ended credit before other free credit comes, which would prolong it. That takes both
    -- clocks: this server's, and that of Postgres, by which the new credit was booked.
    local ended = min(now, op.created)
    local fault = expire_free(events, w, account, ended)
    if fault then return fault end
    free_delta = op.amount
    if w.free_expires > 0 and ended >= w.free_expires then
      replace_ends(w, now, op)
    elseif op.amount > 0 then
      add_end(w, now, op)
    end
  elseif op.kind == 'forgiven' then
    owed_delta = -min(w.owed, op.amount)
  elseif op.amount > 0 then
    paid_delta = op.amount
  else
    paid_delta = -min(w.paid, -op.amount)
    -- A negative adjustment stops at zero and creates no debt.
    if op.kind == 'reversal' then owed_delta = paid_delta - op.amount end
  end
  w.paid, w.free, w.owed = w.paid + paid_delta, w.free + free_delta, w.owed + owed_delta
  w.operations = op.number
  local fault = append(events, w.epoch, w, {
    type = OPERATION, at = now, seq = next_seq(w), paid_delta = paid_delta,
    free_delta = free_delta, operation = op.number, kind = op.kind, text = account .. '\t\t',
  })
  if not fault then repay(events, w, now, account .. '\t') end
  return fault
end
