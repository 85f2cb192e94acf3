-- Removes budgets that no call needs now, if Postgres has all of their charges: the budgets of
-- ended runs, and those of end users. A process that is reading budgets of the same account from
-- Postgres must read them again; readers of other accounts need not (D-983).
--
-- KEYS  1 bucket  then of each budget: the budgets of its account, and how often some of them were
--       forgotten
-- ARGV  1.. of each budget, packed: its number; the start of its newest span, the spending in that
--         span by Postgres, and the spending in the span before
-- Reply { 'ok', of each budget: '1', or '0' if calls still hold some of it, or Postgres does not
--         have all charges }

local bucket = read_bucket(KEYS[1])
local forgotten, changed = {}, {}
for i = 1, #ARGV do
  local key, times = KEYS[2 * i], KEYS[2 * i + 1]
  local number, start, spent, previous_spent = unpack_record('<dddd', ARGV[i])
  local field = whole(number)
  local b = bucket and parse_budget(redis_call('HGET', key, field), bucket.epoch)
  local is_held = b and b.held + b.previous_held > 0
  local differs = b and (b.spent ~= spent or b.previous_spent ~= previous_spent)
  -- A span without charges need not agree with Postgres.
  local is_other = b and b.spent > 0 and b.start ~= start
  if is_held or differs or is_other then
    forgotten[i] = '0'
  else
    forgotten[i] = '1'
    if bucket and redis_call('HDEL', key, field) == 1 then changed[times] = true end
  end
end
for times in pairs(changed) do
  redis_call('INCR', times)
  -- A process that reads Postgres compares this count before and after the read. The key lives
  -- longer than any read: a count that begins at 1 again could equal the count of before.
  redis_call('PEXPIRE', times, 3600000)
end
return { 'ok', table.concat(forgotten) }
