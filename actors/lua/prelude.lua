-- Shared by every script: put before it by plain concatenation.
--
-- Money is a whole number of nano-USD below 2^53, so Lua's doubles add it exactly. It enters and
-- leaves as a decimal string: money() prints it, because tostring() and '..' give 1e+14. '%d' is
-- exact here, for this Lua prints it through a 64-bit integer, and costs half of '%.0f'.

local AMOUNT_MAX = 9007199254740991

local format = string.format

local function money(n)
  return n == 0 and '0' or format('%d', n)
end

-- A number from ARGV; anything but a whole amount in range is our own bug and stops the script
-- before its first write.
local function amount(text)
  local n = tonumber(text)
  if n == nil or n < 0 or n > AMOUNT_MAX or n % 1 ~= 0 then
    error('not an amount: ' .. text)
  end
  return n
end

-- A number from a hash; a missing field is 0.
local function stored(text)
  return text and tonumber(text) or 0
end

-- Milliseconds of Redis, or the time a test gives.
local function now_ms(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- The UTC month of a time, as '202611' (days to civil date, Howard Hinnant's algorithm).
local function month_of(ms)
  local days = math.floor(ms / 86400000) + 719468
  local era = math.floor(days / 146097)
  local day_of_era = days - era * 146097
  local year_of_era = math.floor((day_of_era - math.floor(day_of_era / 1460)
    + math.floor(day_of_era / 36524) - math.floor(day_of_era / 146096)) / 365)
  local day_of_year = day_of_era - (365 * year_of_era + math.floor(year_of_era / 4)
    - math.floor(year_of_era / 100))
  local shifted = math.floor((5 * day_of_year + 2) / 153)
  local month = shifted < 10 and shifted + 3 or shifted - 9
  local year = year_of_era + era * 400 + (month <= 2 and 1 or 0)
  return format('%04d%02d', year, month)
end

-- Appends one entry to the bucket's journal under the bucket's next number. An entry is one text
-- of fields between tabs, always in this order: named fields would make it half as long again, and
-- three times as dear to write and to read. JSON escapes its tabs, and nothing else here has any.
local function append(meta, journal, entry)
  local number = redis.call('HINCRBY', meta, 'entry', 1)
  redis.call('XADD', journal, '*', 'entry', table.concat({
    money(number), entry.type, entry.account, entry.key or '', entry.request or '', money(entry.at),
    entry.facts or '', entry.outcome or '', entry.seq and money(entry.seq) or '',
    money(entry.paid_delta or 0), money(entry.free_delta or 0),
    money(entry.paid_after or 0), money(entry.free_after or 0),
    entry.month or '', entry.credit or '', money(entry.written_off or 0),
    money(entry.overrun or 0),
  }, '\t'))
end

-- A hold record is one string: paid free month stream checkpoint admitted_ms key facts.
local function hold_record(hold)
  return table.concat({
    money(hold.paid), money(hold.free), hold.month, hold.stream, money(hold.checkpoint),
    money(hold.admitted), hold.key, hold.facts,
  }, ' ')
end

local function parse_hold(record)
  local paid, free, month, stream, checkpoint, admitted, key, facts =
    string.match(record, '^(%d+) (%d+) (%d+) (%d) (%d+) (%d+) (%S+) (.*)$')
  return {
    paid = tonumber(paid), free = tonumber(free), month = month, stream = stream,
    checkpoint = tonumber(checkpoint), admitted = tonumber(admitted), key = key, facts = facts,
  }
end

-- Ends a hold: charges min(cost, hold), free credit first, and returns the rest. Free credit that
-- ended while it was held goes, if a later one has begun, which would prolong it. `k` names the
-- keys, `call` gives account, id, outcome, type. Begins with HDEL, which Redis lets run when it is
-- out of memory, and everything after it then runs too: an open call can always be resolved.
local function resolve(k, hold, cost, call)
  local spent, held = 's' .. hold.month, 'h' .. hold.month
  local key_spent, key_held = spent .. ':' .. hold.key, held .. ':' .. hold.key
  local w = redis.call('HMGET', k.wallet, 'paid', 'free', 'held_paid', 'held_free', 'streams',
    'seq', spent, held, key_spent, key_held, 'free_since')
  local total = hold.paid + hold.free
  local charged = math.min(cost, total)
  local charged_free = math.min(charged, hold.free)
  local charged_paid = charged - charged_free
  local paid = stored(w[1]) + hold.paid - charged_paid
  local free = stored(w[2]) + hold.free - charged_free
  local held_paid, held_free = stored(w[3]) - hold.paid, stored(w[4]) - hold.free
  local seq = charged > 0 and stored(w[6]) + 1 or nil
  local lapsed = hold.admitted < stored(w[11]) and hold.free - charged_free or 0
  local last = (seq or stored(w[6])) + (lapsed > 0 and 1 or 0)

  redis.call('HDEL', k.holds, call.id)
  redis.call('ZREM', k.leases, call.account .. '/' .. call.id)
  redis.call('HSET', k.wallet, 'paid', money(paid), 'free', money(free - lapsed),
    'held_paid', money(held_paid), 'held_free', money(held_free),
    'streams', money(stored(w[5]) - tonumber(hold.stream)), 'seq', money(last),
    spent, money(stored(w[7]) + charged), held, money(stored(w[8]) - total),
    key_spent, money(stored(w[9]) + charged), key_held, money(stored(w[10]) - total))
  append(k.meta, k.journal, {
    type = call.type, account = call.account, key = hold.key, request = call.id, at = hold.admitted,
    facts = hold.facts, outcome = call.outcome, seq = seq, paid_delta = -charged_paid,
    free_delta = -charged_free, paid_after = paid + held_paid, free_after = free + held_free,
    month = hold.month, overrun = cost - charged,
  })
  if lapsed > 0 then
    append(k.meta, k.journal, {
      type = 'free_expired', account = call.account, at = stored(w[11]), seq = last,
      free_delta = -lapsed, paid_after = paid + held_paid, free_after = free - lapsed + held_free,
    })
  end
  return charged, charged_free, paid + free - lapsed
end

-- Keeps the answer of a settled call for a client library that sends its script again. `left` is
-- nil where the wallet is not here.
local function remember(op, charged, charged_free, left, ms)
  local answer = { 'done', money(charged), money(charged_free), left and money(left) or '' }
  redis.call('SET', op, table.concat(answer, ' '), 'PX', ms)
  answer[1] = 'ok'
  return answer
end

-- What resolves a repeated settle or release: the stored answer of the first.
local function answer_again(op)
  local done = redis.call('GET', op)
  if done then
    local verdict, charged, free, left = string.match(done, '^(%a+) (%d+) (%d+) ?(%d*)')
    if verdict == 'done' then return { 'ok', charged, free, left } end
  end
  return { 'unresolved' }
end

-- Free credit whose time is over leaves the balance with a ledger entry of its own.
local function expire_free(meta, wallet, journal, account, now)
  local w = redis.call('HMGET', wallet, 'free', 'free_expires', 'paid', 'held_paid', 'held_free',
    'seq')
  local free, expires = stored(w[1]), stored(w[2])
  if free == 0 or expires == 0 or now < expires then return end
  local seq = stored(w[6]) + 1
  redis.call('HSET', wallet, 'free', '0', 'seq', money(seq))
  append(meta, journal, {
    type = 'free_expired', account = account, at = now, seq = seq, free_delta = -free,
    paid_after = stored(w[3]) + stored(w[4]), free_after = stored(w[5]),
  })
end

-- Puts one credit into its balance, with its ledger entry. The caller knows that it is the next
-- one.
-- Free credit that ended goes before other free credit comes, or that would prolong it.
local function apply_credit(k, now, credit)
  local ends = credit.purse == 'free' and stored(redis.call('HGET', k.wallet, 'free_expires')) or 0
  if ends > 0 and now >= ends then
    expire_free(k.meta, k.wallet, k.journal, k.account, now)
    redis.call('HSET', k.wallet, 'free_since', money(now))
  end
  local w = redis.call('HMGET', k.wallet, 'paid', 'free', 'held_paid', 'held_free', 'seq',
    'free_expires')
  local value, paid, free, seq = amount(credit.amount), stored(w[1]), stored(w[2]), stored(w[5]) + 1
  local to_paid = credit.purse == 'paid' and value or 0
  local to_free = value - to_paid
  amount(money(paid + stored(w[3]) + to_paid))
  amount(money(free + stored(w[4]) + to_free))
  local expires = stored(w[6])
  if to_free > 0 and credit.expires ~= '' then
    expires = math.max(expires, tonumber(credit.expires))
  end
  redis.call('HSET', k.wallet, 'paid', money(paid + to_paid), 'free', money(free + to_free),
    'free_expires', string.format('%.0f', expires), 'credits', credit.number, 'seq', money(seq))
  append(k.meta, k.journal, {
    type = 'credit', account = k.account, at = now, seq = seq, paid_delta = to_paid,
    free_delta = to_free, paid_after = paid + to_paid + stored(w[3]),
    free_after = free + to_free + stored(w[4]), credit = credit.number,
  })
end
