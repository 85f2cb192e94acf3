-- Decides on one call: takes a hold, or refuses and says why. All or nothing.
--
-- KEYS  1 bucket  2 wallet  3 key  4 holds  5 events  6 op  7 refused  8.. marked and markers, if
--       the call has any, then limits, then the budgets if the call names any
-- ARGV  1 packed: now_ms or 0, version, window limit, bound, free credit may pay (0/1), takes a
--         stream slot (0/1), stream limit, open call limit, cap, key budget or -1, deadline_ms of a
--         hold without a process, -1 for a brief call or 0, rank of the refusal (0, 1 before the
--         window, 2 also before a debt), attempt (0 only, 1 tentative, 2 counted before, 3 open to
--         accounts that owe, 4 ahead of its body, 5 tentative and counted before, 6 a quote),
--         refused requests a minute that get rows of their own, latency of a refusal, ms, the time
--         of sending, ms, how long an admission is valid, ms, the number of keys for `marked`
--         and markers; then a refusal code or ''
--       2 request  3 account, key and metadata between tabs
--       4.. if it has markers, the content of each, and the response that the call is a part of, if
--       it is one (see markers.lua); then of each limit: kind, limit, weight, code (see
--       limits.lua); then of all budgets packed: number, span, cap, owner
--       (see budgets.lua)
-- Reply packed now_ms, limit, remaining, reset_ms, hold_paid, hold_free, admitted_ms, and the start
--         of the span of each budget
--       { 'recover' } the bucket is not set up; { 'hydrate' } Redis has no such wallet
--       { 'stale' } the access document has another version: read it, and try again
--       { 'budgets' } a budget is not in Redis: load it (load_budgets.lua), and try again
--       { 'markers' } a marker is not in Redis: load it (load_markers.lua), and try again
--       { 'begin' } the call would be admitted and begin a run: begin the run, and try again
--       { 'lease' } the process needs a lease (lease.lua) before it may hold money in this bucket
--       { 'late', packed now_ms } the admission was sent too long ago, or by a process with a wrong
--         clock; nothing was changed
--       { 'short', packed spendable } tentative: the bound does not fit; ahead of its body: the
--         body may be read. The request was counted, nothing else changed
--       { error_code, packed now_ms, limit, remaining, reset_ms, spendable, retry_ms, by the
--         limit of open calls (1), of tokens (2), of the requests of a day (3), of the tokens of a
--         day (4) or else 0, place of the budget that refused it or 0, rest of the cap or budget,
--         end of that budget's span or 0, and then the requests whose marker refused it } refused;
--         no money was changed
--       { 'quote', the same numbers, rest of the limits of tokens or -1, the limit that binds
--         (binding_numbers in budgets.lua), error_code or '' }
--         the decision that a call would get now: nothing was counted, held or logged
--       error ENDED  a late copy: the call has ended already; nothing was changed

local given, version, limit, bound, eligible, stream, stream_limit, call_limit, cap, budget,
  deadline_ms, rank, attempt, rows_max, latency_ms, sent, valid_ms, marks,
  after = unpack_record('<dddddddddddddddddd', ARGV[1])
local request, text, refusal = ARGV[2], ARGV[3], string_sub(ARGV[1], after)
local wallet_key, key_key, holds, op = KEYS[2], KEYS[3], KEYS[4], KEYS[6]

local bucket, w, k = read_call(KEYS[1], wallet_key, key_key)
if not bucket then return { 'recover' } end
if not w then return { 'hydrate' } end
if w.version ~= version then return { 'stale' } end
local now = now_ms(given)
-- A copy of a script that comes this late could find no record of its call, and would hold again
-- (D-343).
if now - sent > valid_ms or sent - now > valid_ms then return { 'late', pack('<d', now) } end
if deadline_ms > 0 and has_ended(op) then return redis.error_reply('ENDED ' .. request) end
local month = month_of(now)
roll(w, month)
-- If the clock jumped back by months, count in the last month seen.
if month < w.month and not is_month_before(month, w.month) then month = w.month end
roll(k, w.month)
local window = window_of(k, call.window)
if open_window(window, now) then write_key(key_key, bucket.epoch, k, window) end
local limits, budgets, marker_code, marked_by
if marks > 0 then
  marker_code, marked_by = read_markers(KEYS, 8, marks, ARGV[4], bucket.epoch, request, now)
  if marker_code == false then return { 'markers' } end
end
local first = 8 + marks
if #KEYS >= first then
  local first_arg = marks > 0 and 5 or 4
  local last = first - 1 + floor((#ARGV - first_arg + 1) / 4)
  if last >= first then limits = read_limits(KEYS, ARGV, first, last, first_arg, now) end
  if last < #KEYS then
    budgets = read_budgets(KEYS[#KEYS], ARGV[#ARGV], bucket.epoch, now)
    if not budgets then return { 'budgets' } end
  end
end

-- The highest amount that this call can hold, by the balances, the account's cap and all budgets.
local usable_free = eligible == 1 and free_at(w, now) or 0
local cap_room = cap - month_use(w, month)
local budget_room = budget >= 0 and budget - month_use(k, month) or AMOUNT_MAX
local over, least
if budgets then over, least = check_budgets(budgets, bound) end

-- In the order of the error table.
local full, exceeded = window.total >= limit, nil
if limits then full, exceeded = check_limits(limits, full) end
-- True if an earlier try has counted this request, or if this try was sent before and has counted
-- the request. A refusal may follow a try whose reply was lost: its process then does not know that
-- the try has counted the request.
local is_counted = attempt == 2 or attempt == 5
  or (full and (attempt == 1 or attempt == 4 or refusal ~= '') and redis_call('GET', op) == 'S')
local window_full = full and not is_counted
local code, refused_by = nil, ''
if rank == 2 then code = refusal
-- Cannot happen (SPEC 3.1). If it does, nothing is served until an operator has found the reason.
elseif w.paid < 0 or w.free < 0 then code = 'account_inactive'
elseif w.owed > 0 and attempt ~= 3 then code = 'payment_required'
elseif refusal ~= '' and rank == 1 then code = refusal
elseif window_full then code, refused_by = 'rate_limit_exceeded', 'requests'
elseif refusal ~= '' then code = refusal
elseif marker_code then code = marker_code
elseif exceeded then code, refused_by = exceeded.code, exceeded.kind
elseif bound > 0 and bound > budget_room then code, refused_by = 'key_budget_exceeded', 'budget'
elseif over and over.owner == OF_KEY then code, refused_by = BUDGET_CODES[OF_KEY], over.name
elseif bound > 0 and bound > cap_room then code, refused_by = 'monthly_limit_reached', 'cap'
elseif over then code, refused_by = BUDGET_CODES[over.owner], over.name
elseif bound > w.paid + usable_free then code, refused_by = 'insufficient_credits', 'balance'
elseif stream == 1 and w.streams >= stream_limit then
  code, refused_by = 'too_many_streams', 'streams'
elseif deadline_ms == 0 and w.calls >= call_limit then
  code, refused_by = stream == 1 and 'too_many_streams' or 'rate_limit_exceeded', 'calls'
end

local balance = w.paid + usable_free
local left = spendable(balance, cap_room, budget_room, least and least.room or AMOUNT_MAX)
if attempt == 6 then
  local tokens_left = -1
  for _, l in ipairs(limits or {}) do
    if l.kind == 'tokens' or l.kind == 'tokens_day' then
      local room = max(0, l.max - l.used)
      tokens_left = tokens_left < 0 and room or min(tokens_left, room)
    end
  end
  return { 'quote', refusal_numbers(now, window, limit, limits, left, exceeded, refused_by)
    .. limit_numbers(refused_by, over, budget_room, cap_room) .. pack('<d', tokens_left)
    .. binding_numbers(balance, cap_room, budget_room, least), code or '' }
end

local for_money = IS_FOR_MONEY[code]
local may_fit = for_money or refused_by == 'tokens' or refused_by == 'tokens_day'
local goes_on = (may_fit and (attempt == 1 or attempt == 5)) or (attempt == 4 and not code)
if goes_on and not sent_before(holds, request, bucket.epoch) then
  -- The first try counts the request, so the window also limits how often a prompt is tokenised.
  if not redis_call('GET', op) then
    redis_call('SET', op, 'S', 'PX', 60000)
    if not is_counted then
      count_request(window, limits)
      write_key(key_key, bucket.epoch, k, window)
    end
  end
  return { 'short', pack('<d', left) }
end

if code then
  -- A client library may send a script twice; the second run must return the first one's decision.
  if not sent_before(holds, request, bucket.epoch) then
    local before = redis_call('GET', op)
    if before and string_sub(before, 1, 1) == 'R' then
      local first_code, packed = string.match(before, '^R([%l_]+) (.*)$')
      return { first_code, packed }
    end
    local account, key = account_of(text)
    local field = account .. '|' .. key .. '|' .. whole(floor(now / 60000))
    local rows = redis_call('HINCRBY', KEYS[7], field, 1)
    if not window_full and not is_counted and before ~= 'S' then
      count_request(window, limits)
      write_key(key_key, bucket.epoch, k, window)
    end
    local packed = refusal_numbers(now, window, limit, limits, left, exceeded, refused_by)
      .. limit_numbers(refused_by, over, budget_room, cap_room)
      .. (code == marker_code and marked_by or '')
    if rows <= rows_max then
      local fault = append(KEYS[5], bucket.epoch, nil, {
        type = REFUSED, at = now, text = text, request = request,
        outcome = code .. ' ' .. whole(latency_ms) .. ' ' .. refused_by,
      })
      if fault then
        redis_call('HINCRBY', KEYS[7], field, -1)
        return fault
      end
      redis_call('SET', op, 'R' .. code .. ' ' .. packed, 'PX', 60000)
    elseif rows == rows_max + 1 then
      redis_call('HSET', KEYS[7], field .. '|metadata', string.match(text, '[^\t]*$'))
    end
    return { code, packed }
  end
end

if budgets and begins_run(budgets) then return { 'begin' } end
if deadline_ms <= 0 and not has_lease(holds, bucket.epoch, now) then return { 'lease' } end
local from_free = bound < usable_free and bound or usable_free
local hold = call.hold
hold.epoch, hold.paid, hold.free = bucket.epoch, bound - from_free, from_free
hold.month, hold.stream, hold.checkpoint, hold.admitted = month, stream, 0, now
hold.deadline, hold.text = deadline_ms > 0 and now + deadline_ms or deadline_ms, text
if budgets then hold.text = text .. '\t' .. names_of(budgets) end
local record = hold_record(hold)
if redis_call('HSETNX', holds, request, record) == 0 then
  -- An admission that was sent before finds its hold.
  local before = sent_before(holds, request, bucket.epoch)
  if before then
    if reply_in(before) then return redis.error_reply('ENDED ' .. request) end
    local most, remaining, resets = closest_window(window, limit, limits, now)
    return pack('<ddddddd', now, most, remaining, resets, before.paid, before.free,
      before.admitted) .. (budgets and budget_starts(before.text) or '')
  end
  redis_call('HSET', holds, request, record)
  hold = parse_hold(record)
end
w.paid = w.paid - hold.paid
use_free(w, now, hold.free, hold.free)
w.held_paid, w.held_free = w.held_paid + hold.paid, w.held_free + hold.free
w.streams, w.calls, w.used = w.streams + stream, w.calls + calls_of(hold), now
add_to_month(w, month, 0, bound)
add_to_month(k, month, 0, bound)
if not is_counted then count_request(window, limits) end
if limits then count_admitted(limits) end
if budgets then hold_in_budgets(KEYS[#KEYS], bucket.epoch, budgets, bound) end
if marks > 0 then claim_marker(KEYS[9], bucket.epoch, ARGV[4], marks - 1, request) end
write_call(wallet_key, w, key_key, k, window)
local most, remaining, resets = closest_window(window, limit, limits, now)
local reply = pack('<ddddddd', now, most, remaining, resets, hold.paid, hold.free, now)
return budgets and reply .. budget_starts(hold.text) or reply
