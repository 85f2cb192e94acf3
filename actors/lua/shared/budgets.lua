-- Budgets: capped amounts over spans of time; loaded after wallet.lua. The budgets of an account
-- are the fields of one hash, by number (D-740), which is in the KEYS of a call that names some.
-- A hold and its journal entry name budgets as `number:start number:start`.

-- The spans, as src/core/access/budgets.ts numbers them, and their names in the log.
local FIVE_HOURS, WEEK, TOTAL, MONTH = 1, 3, 4, 5
local SPAN_NAMES = {
  'budget_5h', 'budget_day', 'budget_week', 'budget_total', 'budget_month',
}
-- The name of a budget whose owner has no other span.
local OWNER_NAMES = { [3] = 'run' }
local SPAN_MS = { 18000000, 86400000, 604800000 }
-- Monday, 5 January 1970: weeks begin on Mondays.
local FIRST_MONDAY_MS = 345600000

-- The owners, in the order of the error table, and the codes of their refusals.
local OF_KEY = 1
local BUDGET_CODES = {
  'key_budget_exceeded', 'account_budget_exceeded', 'run_budget_exceeded',
  'end_user_budget_exceeded',
}

-- The refusals that more money, or a new span, would lift.
local IS_FOR_MONEY = {
  key_budget_exceeded = true, monthly_limit_reached = true, account_budget_exceeded = true,
  run_budget_exceeded = true, end_user_budget_exceeded = true, insufficient_credits = true,
}

-- The start of the span in which a call at `now` counts; `last` is the start of the newest span. If
-- the clock went back, the newest span continues. A span of five hours starts with the first call
-- that is admitted after the end of the span before.
local function span_start(span, last, now)
  if span == TOTAL then return 0 end
  if span == FIVE_HOURS then
    if last ~= NO_SPAN and now < last + SPAN_MS[FIVE_HOURS] then return last end
    return now
  end
  if span == MONTH then return max(last, month_start(now)) end
  local since = span == WEEK and FIRST_MONDAY_MS or 0
  return max(last, now - (now - since) % SPAN_MS[span])
end

local function new_budget()
  return {
    start = NO_SPAN, spent = 0, held = 0, previous_start = NO_SPAN, previous_spent = 0,
    previous_held = 0,
  }
end

-- Moves a budget to a later span.
local function begin_span(b, start)
  if start == b.start then return end
  b.previous_start, b.previous_spent, b.previous_held = b.start, b.spent, b.held
  b.start, b.spent, b.held = start, 0, 0
end

-- Adds to the amounts of one span. A span before the last two is not counted any more.
local function add_to_span(b, start, spent, held)
  if start == b.start then
    b.spent, b.held = b.spent + spent, b.held + held
  elseif start == b.previous_start then
    b.previous_spent, b.previous_held = b.previous_spent + spent, b.previous_held + held
  end
end

-- The part of a cap that a span has left. A span before the last two has nothing left, because its
-- amounts are unknown (D-740).
local function span_room(b, start, cap)
  if start == b.start then return cap - b.spent - b.held end
  if start == b.previous_start then return cap - b.previous_spent - b.previous_held end
  return 0
end

-- The number of a run that has not begun. No call is admitted under it (D-788).
local NOT_BEGUN = '0'

-- The budgets that a call names, each moved to its current span. `packed` has of each: number,
-- span, cap, owner. Nil if Redis lacks one of the budgets, which must be loaded first.
local function read_budgets(key, packed, epoch, now)
  local budgets, fields = {}, {}
  for at = 1, #packed, 32 do
    local number, span, cap, owner = unpack_record('<dddd', packed, at)
    local field = whole(number)
    fields[#fields + 1] = field
    budgets[#budgets + 1] = { field = field, span = span, cap = cap, owner = owner }
  end
  local records = redis_call('HMGET', key, unpack(fields))
  for i, named in ipairs(budgets) do
    local b = parse_budget(records[i], epoch) or named.field == NOT_BEGUN and new_budget()
    if not b then return nil end
    named.start = span_start(named.span, b.start, now)
    begin_span(b, named.start)
    named.record, named.room = b, named.cap - b.spent - b.held
    named.name = OWNER_NAMES[named.owner] or SPAN_NAMES[named.span]
  end
  return budgets
end

-- Returns the first budget that a hold of `bound` would exceed, and the one with the least room.
local function check_budgets(budgets, bound)
  local over, least
  for i, named in ipairs(budgets) do
    named.place = i
    if not over and bound > named.room then over = named end
    if not least or named.room < least.room then least = named end
  end
  return bound > 0 and over or nil, least
end

-- True if the call would begin a run.
local function begins_run(budgets)
  for _, named in ipairs(budgets) do
    if named.field == NOT_BEGUN then return true end
  end
  return false
end

-- The time at which the whole cap is available again; 0 for never.
local function renews_at(span, start)
  if span == TOTAL then return 0 end
  -- 32 days after its start the next month is under way.
  return span == MONTH and month_start(start + 32 * 86400000) or start + SPAN_MS[span]
end

-- The numbers of the cap or budget that refused a call: the place of the budget or 0, the rest of
-- the cap, the end of the span or 0. The end of a month follows from the time.
local function limit_numbers(refused_by, over, budget_room, cap_room)
  if refused_by == 'budget' then return pack('<ddd', 0, max(0, budget_room), 0) end
  if refused_by == 'cap' then return pack('<ddd', 0, max(0, cap_room), 0) end
  if not over or refused_by ~= over.name then return pack('<ddd', 0, 0, 0) end
  return pack('<ddd', over.place, max(0, over.room), renews_at(over.span, over.record.start))
end

-- The numbers of the limit that leaves the least to hold, and of equal ones the first (D-795): the
-- balance (0), the cap (1), the budget of the key's month (2) or another budget (3), then those of
-- `limit_numbers`.
local function binding_numbers(balance, cap_room, budget_room, least)
  local kind, room, name = 0, balance, 'balance'
  if cap_room < room then kind, room, name = 1, cap_room, 'cap' end
  if budget_room < room then kind, room, name = 2, budget_room, 'budget' end
  if least and least.room < room then kind, name = 3, least.name end
  return pack('<d', kind) .. limit_numbers(name, least, budget_room, cap_room)
end

local function write_budgets(key, epoch, budgets)
  local fields = {}
  for _, named in ipairs(budgets) do
    fields[#fields + 1] = named.field
    fields[#fields + 1] = budget_record(epoch, named.record)
  end
  redis_call('HSET', key, unpack(fields))
end

-- The names of budgets for a hold and the journal.
local function names_of(budgets)
  local names = {}
  for i, named in ipairs(budgets) do names[i] = named.field .. ':' .. whole(named.start) end
  return table.concat(names, ' ')
end

-- Adds the hold of an admitted call to its budgets.
local function hold_in_budgets(key, epoch, budgets, bound)
  for _, named in ipairs(budgets) do named.record.held = named.record.held + bound end
  write_budgets(key, epoch, budgets)
end

-- The names of budgets in the text of a hold.
local function budget_names(text)
  return string.match(text, '^[^\t]*\t[^\t]*\t[^\t]*\t(.*)$') or ''
end

-- The packed starts of the spans of a hold's budgets, for the reply to an admission.
local function budget_starts(text)
  local starts = {}
  for start in string.gmatch(budget_names(text), ':(%d+)') do
    starts[#starts + 1] = pack('<d', tonumber(start))
  end
  return table.concat(starts)
end

-- Replaces the hold of an ended call with its charge in each budget, only in the span of the hold.
local function settle_budgets(key, epoch, hold, charged)
  local total, fields, ended = hold.paid + hold.free, {}, {}
  for field, start in string.gmatch(budget_names(hold.text), '(%d+):(%d+)') do
    fields[#fields + 1] = field
    ended[#ended + 1] = { field = field, start = tonumber(start) }
  end
  if #fields == 0 then return end
  local records, changed = redis_call('HMGET', key, unpack(fields)), {}
  for i, named in ipairs(ended) do
    named.record = parse_budget(records[i], epoch)
    if named.record then
      add_to_span(named.record, named.start, charged, -total)
      changed[#changed + 1] = named
    end
  end
  if #changed > 0 then write_budgets(key, epoch, changed) end
end

-- The budgets of a call that settles late, and the smallest room of their spans. `packed` has of
-- each: number, start, cap. Nil if Redis lacks one of the budgets.
local function read_late_budgets(key, packed, epoch)
  local budgets, room = {}, AMOUNT_MAX
  for at = 1, #packed, 24 do
    local number, start, cap = unpack_record('<ddd', packed, at)
    local field = whole(number)
    local b = parse_budget(redis_call('HGET', key, field), epoch)
    if not b then return nil end
    budgets[#budgets + 1] = { field = field, start = start, record = b }
    room = min(room, span_room(b, start, cap))
  end
  return budgets, room
end

-- Adds the charge of a late settlement to its budgets.
local function charge_late(key, epoch, budgets, taken)
  for _, named in ipairs(budgets) do add_to_span(named.record, named.start, taken, 0) end
  write_budgets(key, epoch, budgets)
end
