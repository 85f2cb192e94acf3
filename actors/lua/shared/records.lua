-- The packed records of a bucket; loaded after window.lua. Only these two files, free_credit.lua
-- and actors/records/records.ts know the layout of a record.

-- The layouts that this release reads (actors/records/layouts.ts), and the layout that it writes:
-- the layout in force in the bucket. Without a bucket the lowest layout is written, because every
-- process that may run beside this one knows that layout.
local LAYOUT_MIN, LAYOUT_MAX = 2, 2
local in_force

-- Every script calls this first: it resets the variables that the script before it set.
local function begin()
  if not floor then
    floor, min, max = math.floor, math.min, math.max
    pack, unpack_record = struct.pack, struct.unpack
    string_sub, string_byte, redis_call = string.sub, string.byte, redis.call
  end
  in_force = LAYOUT_MIN
end

-- A format with 'c0' ends with a text; `_BYTES` is the place where its text, or its rest, begins.
local BUCKET = '<dddd'
local WALLET, WALLET_BYTES = '<dddddddddddddddddddd', 160
local SPENDING_NUMBERS, SPENDING, SPENDING_BYTES = '<ddddddd', '<dddddddc0', 56
local KEY_STATE = '<ddddddddddc0'
local HOLD_NUMBERS, HOLD, HOLD_BYTES = '<ddddddddd', '<dddddddddc0', 72
local ENTRY = '<dddddddddddddd'
local BUDGET = '<dddddddd'
local MARKER_NUMBERS, MARKER, MARKER_BYTES = '<ddd', '<dddc0', 24

-- Types of journal entries. The numbers are stored in records: add new ones only at the end.
local CALL, EXPIRED, LATE, REFUSED, SUMMARY, OPERATION, FREE_EXPIRED, REPAYMENT =
  0, 1, 2, 3, 4, 5, 6, 7

-- The records of the call that a script handles. These tables are made once and filled for each
-- call, because a new table costs more than to fill an old one.
local call = { bucket = {}, wallet = {}, key = {}, window = {}, hold = {}, entry = {} }

-- Fills `b` with the bucket's own record; nil if the bucket is not set up. An unknown layout
-- stops the script: the newer release that wrote the layout could not read the records of this
-- release.
local function parse_bucket(b, bytes)
  if not bytes then return nil end
  local layout, epoch, evictions, documents = unpack_record(BUCKET, bytes)
  if layout < LAYOUT_MIN or layout > LAYOUT_MAX then
    error('LAYOUT ' .. whole(layout) .. ' is in force')
  end
  in_force = layout
  b.epoch, b.evictions, b.documents = epoch, evictions, documents
  return b
end

local function read_bucket(key)
  return parse_bucket({}, redis_call('GET', key))
end

local function write_bucket(key, b)
  redis_call('SET', key, pack(BUCKET, in_force, b.epoch, b.evictions, b.documents))
end

-- Fills `w` with a wallet of the bucket's epoch. Returns nil without such a wallet, which must then
-- be hydrated first.
local function parse_wallet(w, bytes, epoch)
  if not bytes then return nil end
  local layout, of_epoch, version, seq, paid, free, held_paid, held_free, owed, operations,
    free_expires, free_since, streams, calls, month, spent, held, previous_spent, previous_held,
    used = unpack_record(WALLET, bytes)
  if of_epoch ~= epoch then return nil end
  w.layout, w.epoch, w.version, w.seq = layout, epoch, version, seq
  w.paid, w.free, w.held_paid, w.held_free = paid, free, held_paid, held_free
  w.owed, w.operations, w.free_expires, w.free_since = owed, operations, free_expires, free_since
  w.streams, w.calls, w.month, w.spent, w.held = streams, calls, month, spent, held
  w.previous_spent, w.previous_held, w.used = previous_spent, previous_held, used
  w.ends = #bytes > WALLET_BYTES and string_sub(bytes, WALLET_BYTES + 1) or ''
  return w
end

local function read_wallet(key, epoch)
  return parse_wallet({}, redis_call('GET', key), epoch)
end

local function wallet_record(w)
  return pack(WALLET, in_force, w.epoch, w.version, w.seq, w.paid, w.free, w.held_paid,
    w.held_free, w.owed, w.operations, w.free_expires, w.free_since, w.streams, w.calls, w.month,
    w.spent, w.held, w.previous_spent, w.previous_held, w.used) .. w.ends
end

local function write_wallet(key, w)
  redis_call('SET', key, wallet_record(w))
end

-- Fills `k` with the spending of a key. Spending of an older epoch is invalid, because the current
-- wallet brought its own. The window stays valid in every epoch; `window_of` reads it.
local function parse_key(k, bytes, epoch)
  k.bytes = bytes
  local of_epoch, _
  if bytes then
    _, of_epoch, k.month, k.spent, k.held, k.previous_spent, k.previous_held =
      unpack_record(SPENDING_NUMBERS, bytes)
  end
  if of_epoch ~= epoch then
    k.month, k.spent, k.held, k.previous_spent, k.previous_held = 0, 0, 0, 0, 0
  end
  return k
end

local function read_key(key, epoch)
  return parse_key({}, redis_call('GET', key), epoch)
end

-- Fills `window` with the request window of a key that was read.
local function window_of(k, window)
  return k.bytes and parse_window(window, k.bytes, SPENDING_BYTES) or new_window()
end

-- `window` is nil if it is unchanged since the key was read.
local function key_record(epoch, k, window)
  if not window and k.bytes then
    return pack(SPENDING, in_force, epoch, k.month, k.spent, k.held, k.previous_spent,
      k.previous_held, string_sub(k.bytes, SPENDING_BYTES + 1))
  end
  window = window or new_window()
  local last, first, total = window_numbers(window)
  return pack(KEY_STATE, in_force, epoch, k.month, k.spent, k.held, k.previous_spent,
    k.previous_held, last, first, total, slots_of(window))
end

local function write_key(key, epoch, k, window)
  redis_call('SET', key, key_record(epoch, k, window))
end

-- Reads the records of a call at once: its bucket, wallet and key. Without a bucket it returns no
-- wallet and no key, and without a wallet no key.
local function read_call(bucket_key, wallet_key, key_key)
  local bytes = redis_call('MGET', bucket_key, wallet_key, key_key)
  local bucket = parse_bucket(call.bucket, bytes[1])
  if not bucket then return nil, nil, nil end
  local w = parse_wallet(call.wallet, bytes[2], bucket.epoch)
  return bucket, w, w and parse_key(call.key, bytes[3], bucket.epoch)
end

local function write_call(wallet_key, w, key_key, k, window)
  redis_call('MSET', wallet_key, wallet_record(w), key_key, key_record(w.epoch, k, window))
end

-- True if `month` is the one before `later`.
local function is_month_before(month, later)
  return later - month == 1 or later - month == 89
end

-- Moves a wallet or key state to a later month.
local function roll(record, month)
  if month <= record.month then return end
  local follows = is_month_before(record.month, month)
  record.previous_spent = follows and record.spent or 0
  record.previous_held = follows and record.held or 0
  record.month, record.spent, record.held = month, 0, 0
end

-- Adds to the spent and held amounts of a month. Only the current month and the month before are
-- counted.
local function add_to_month(record, month, spent, held)
  if month > record.month then roll(record, month) end
  if month == record.month then
    record.spent, record.held = record.spent + spent, record.held + held
  elseif is_month_before(month, record.month) then
    record.previous_spent = record.previous_spent + spent
    record.previous_held = record.previous_held + held
  end
end

-- Returns the sum of the amounts that are spent and held in a month.
local function month_use(record, month)
  if month == record.month then return record.spent + record.held end
  if is_month_before(month, record.month) then
    return record.previous_spent + record.previous_held
  end
  return 0
end

-- The amounts of a budget in the newest span that a call began in, and in the span before. A span
-- that never began has the start NO_SPAN. Nil without a record of this epoch.
local NO_SPAN = -1

local function parse_budget(bytes, epoch)
  if not bytes then return nil end
  local b, of_epoch, _ = {}, nil, nil
  _, of_epoch, b.start, b.spent, b.held, b.previous_start, b.previous_spent, b.previous_held =
    unpack_record(BUDGET, bytes)
  return of_epoch == epoch and b or nil
end

local function budget_record(epoch, b)
  return pack(BUDGET, in_force, epoch, b.start, b.spent, b.held, b.previous_start,
    b.previous_spent, b.previous_held)
end

-- A marker of an idempotency key: its state, then its content and the requests that have it.
local function marker_record(epoch, m)
  return pack(MARKER, in_force, epoch, m.state, m.content .. m.requests)
end

-- A hold: numbers, then tab-separated `account key metadata`, and the budgets that it names, if
-- any.
local function hold_record(hold)
  return pack(HOLD, in_force, hold.epoch, hold.paid, hold.free, hold.month, hold.stream,
    hold.checkpoint, hold.admitted, hold.deadline, hold.text)
end

local function parse_hold(bytes)
  local hold, _ = call.hold, nil
  _, hold.epoch, hold.paid, hold.free, hold.month, hold.stream, hold.checkpoint, hold.admitted,
    hold.deadline = unpack_record(HOLD_NUMBERS, bytes)
  hold.text = string_sub(bytes, HOLD_BYTES + 1)
  return hold
end

-- The record of a settled call: the numbers of a hold of epoch 0, then the reply to the settlement.
-- No bucket has the epoch 0, so the previous release reads the record as an invalid hold.
local ENDED_EPOCH = 0
local ended_layout, ended_numbers

local function ended_record(reply)
  if ended_layout ~= in_force then
    ended_layout = in_force
    ended_numbers = pack(HOLD_NUMBERS, in_force, ENDED_EPOCH, 0, 0, 0, 0, 0, 0, 0)
  end
  return ended_numbers .. reply
end

-- The reply to the settlement of a call that has ended; nil for an open hold.
local function reply_in(hold)
  return hold.epoch == ENDED_EPOCH and hold.text or nil
end

-- The last byte of an epoch: it holds a part of the exponent, so it is 0 only for epoch 0.
local EPOCH_END = 16

local function is_ended(bytes)
  return #bytes >= HOLD_BYTES and string_byte(bytes, EPOCH_END) == 0
end

-- The id of the next entry of an epoch. The text of the latest epoch is cached.
local id_epoch, id_text
local function ids_of(epoch)
  if epoch ~= id_epoch then id_epoch, id_text = epoch, whole(epoch) .. '-*' end
  return id_text
end

-- Appends an entry to the journal. Redis numbers the entries of an epoch: 0, 1, 2 ... Returns the
-- error if there is one, so a caller must write nothing before the entry, or undo its writes. `w`
-- has the balances after the entry; an entry without `seq` changed none.
local function append(events, epoch, w, e)
  local balances = e.seq and w or nil
  local record = pack(ENTRY, in_force, e.type, e.at, e.seq or 0, e.paid_delta or 0,
    e.free_delta or 0, balances and w.paid + w.held_paid or 0,
    balances and w.free + w.held_free or 0, balances and w.owed or 0, e.month or 0,
    e.operation or 0, e.held or 0, e.written_off or 0, e.overrun or 0)
  local content = record .. e.text .. '\t' .. (e.request or '') .. '\t' .. (e.kind or '') .. '\t'
    .. (e.outcome or '')
  local reply = redis.pcall('XADD', events, ids_of(epoch), 'e', content)
  return type(reply) == 'table' and reply.err and reply or nil
end

local function next_seq(w)
  w.seq = w.seq + 1
  return w.seq
end

-- The account in a hold's text, and the key.
local function account_of(text)
  return string.match(text, '^([^\t]*)\t([^\t]*)')
end
