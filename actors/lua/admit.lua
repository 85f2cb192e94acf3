-- Decides on one call: takes a hold, or refuses and says why. All or nothing.
--
-- KEYS  1 meta  2 wallet  3 holds  4 leases  5 window  6 refused  7 op  8 journal  9.. limits
-- ARGV  1 now_ms or ''  2 version  3 account  4 key  5 request  6 refusal code or ''
--       7 refusal outranks the window (0/1)  8 window limit  9 amount  10 free credit may pay (0/1)
--       11 takes a stream slot (0/1)  12 stream limit  13 cap  14 key budget or ''  15 lease_ms
--       16 attempt: only, tentative or second  17 facts  18 outcome of a refusal
--       19 refused rows a minute  20.. of each limit: kind, limit, weight, code (see limits.lua)
-- Reply { 'ok', now_ms, limit, remaining, reset_ms, hold_paid, hold_free, admitted_ms }
--       { 'recover' } the bucket is not set up; { 'hydrate' } the wallet is not here
--       { 'stale', version, document } decide again by this document
--       { 'short', spendable } tentative only: counted, nothing else was changed
--       { error_code, now_ms, limit, remaining, reset_ms, spendable, retry_ms } refused; no money
--         was changed

local meta, wallet, holds, leases = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local window, refused, op, journal = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local account, key, request, refusal = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local now, limit, bound = now_ms(ARGV[1]), tonumber(ARGV[8]), amount(ARGV[9])
local eligible, stream = ARGV[10] == '1', tonumber(ARGV[11])
local cap, budget = amount(ARGV[13]), ARGV[14] ~= '' and amount(ARGV[14]) or nil

local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then return { 'recover' } end
local month = month_of(now)
local spent, held = 's' .. month, 'h' .. month
local key_spent, key_held = spent .. ':' .. key, held .. ':' .. key
local w = redis.call('HMGET', wallet, 'epoch', 'version', 'paid', 'free', 'free_expires',
  'held_paid', 'held_free', 'streams', spent, held, key_spent, key_held)
if w[1] ~= epoch then return { 'hydrate' } end
if w[2] ~= ARGV[2] then return { 'stale', w[2], redis.call('HGET', wallet, 'document') } end

local requests, limits = open_window(window, now), read_limits(9, 20, now)

-- What this call could hold: its balances, the account's cap and the key's budget considered.
local free = stored(w[4])
local free_is_over = free > 0 and stored(w[5]) > 0 and now >= stored(w[5])
local usable_free = eligible and not free_is_over and free or 0
local paid = stored(w[3])
local cap_room = cap - stored(w[9]) - stored(w[10])
local budget_room = budget and budget - stored(w[11]) - stored(w[12]) or AMOUNT_MAX
local spendable = math.max(0, math.min(paid + usable_free, cap_room, budget_room))

-- In the order of the error table.
local full, exceeded = requests.total >= limit, nil
for _, l in ipairs(limits) do
  if l.kind == 'requests' then full = full or exceeds(l)
  elseif not exceeded and exceeds(l) then exceeded = l
  end
end
-- Counted before: by the first try, or by this one when it was sent before.
local is_counted = ARGV[16] == 'second' or (ARGV[16] == 'tentative' and full
  and redis.call('GET', op) == 'short')
local window_full = full and not is_counted
local code = nil
if refusal ~= '' and ARGV[7] == '1' then code = refusal
elseif window_full then code = 'rate_limit_exceeded'
elseif refusal ~= '' then code = refusal
elseif exceeded then code = exceeded.code
elseif bound > 0 and bound > budget_room then code = 'key_budget_exceeded'
elseif bound > 0 and bound > cap_room then code = 'monthly_limit_reached'
elseif bound > paid + usable_free then code = 'insufficient_credits'
elseif stream == 1 and stored(w[8]) >= tonumber(ARGV[12]) then code = 'too_many_streams'
end

local function count_request()
  if is_counted then return end
  count_in_window(window, requests, 1)
  for _, l in ipairs(limits) do
    if l.kind == 'requests' then count_limit(l) end
  end
end

local for_money = code == 'key_budget_exceeded' or code == 'monthly_limit_reached'
  or code == 'insufficient_credits'
if for_money and ARGV[16] == 'tentative' and redis.call('HEXISTS', holds, request) == 0 then
  -- It is counted here, so that the window also bounds how often a prompt is tokenised.
  if not redis.call('GET', op) then
    count_request()
    redis.call('SET', op, 'short', 'PX', 60000)
  end
  return { 'short', money(spendable) }
end

-- The headers show the window that is closest to full.
local function rate(verdict)
  local max, total, resets = limit, requests.total, reset_ms(requests, now)
  for _, l in ipairs(limits) do
    if l.kind == 'requests' and l.max - l.window.total < max - total then
      max, total, resets = l.max, l.window.total, l.resets
    end
  end
  return { verdict, money(now), max, math.max(0, max - total), resets }
end

if code then
  -- A client library may send a script twice; the second must hear what the first decided.
  local record = redis.call('HGET', holds, request)
  if not record then
    local before = redis.call('GET', op)
    if before and before ~= 'short' then return cjson.decode(before) end
    if not window_full then count_request() end
    local field = account .. '|' .. key .. '|' .. money(math.floor(now / 60000))
    local rows = redis.call('HINCRBY', refused, field, 1)
    local reply = rate(code)
    reply[6], reply[7] = money(spendable), exceeded and exceeded.resets or reply[5]
    if rows <= tonumber(ARGV[19]) then
      redis.call('SET', op, cjson.encode(reply), 'PX', 60000)
      append(meta, journal, {
        type = 'refused', account = account, key = key, request = request, at = now,
        facts = ARGV[17], outcome = code .. ' ' .. ARGV[18],
      })
    elseif rows == tonumber(ARGV[19]) + 1 then
      redis.call('HSET', refused, field .. '|facts', ARGV[17])
    end
    return reply
  end
end

local from_free = math.min(bound, usable_free)
local hold = {
  paid = bound - from_free, free = from_free, month = month, stream = ARGV[11], checkpoint = 0,
  admitted = now, key = key, facts = ARGV[17],
}
-- HSET of a new field comes first: Redis refuses it when it is out of memory, so no call starts
-- then.
if redis.call('HSETNX', holds, request, hold_record(hold)) == 0 then
  hold = parse_hold(redis.call('HGET', holds, request))
  local reply = rate('ok')
  reply[6], reply[7], reply[8] = money(hold.paid), money(hold.free), money(hold.admitted)
  return reply
end
redis.call('ZADD', leases, money(now + tonumber(ARGV[15])), account .. '/' .. request)
redis.call('HSET', wallet, 'paid', money(paid - hold.paid), 'free', money(free - hold.free),
  'held_paid', money(stored(w[6]) + hold.paid), 'held_free', money(stored(w[7]) + hold.free),
  'streams', money(stored(w[8]) + stream), held, money(stored(w[10]) + bound),
  key_held, money(stored(w[12]) + bound), 'used', money(now))
count_request()
for _, l in ipairs(limits) do
  if l.kind ~= 'requests' then count_limit(l) end
end
if free_is_over then expire_free(meta, wallet, journal, account, now) end
local reply = rate('ok')
reply[6], reply[7], reply[8] = money(hold.paid), money(hold.free), money(now)
return reply
