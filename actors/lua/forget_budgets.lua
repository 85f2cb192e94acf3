-- Removes budgets that no call needs now, if Postgres has all of them: those of runs that have
-- ended, and those of end users. Whoever reads Postgres at this moment must read it again, as after
-- an eviction: once, for any number of budgets (D-901).
--
-- KEYS  1 bucket  2.. of each budget: the budgets of its account
-- ARGV  1.. of each budget, packed: its number; begin of its newest span, what it spent in it by
--         Postgres, and what it spent in the span before
-- Reply { 'ok', of each budget: '1', or '0' if calls still hold some of it, or Postgres does not
--         have all charges }

local bucket = read_bucket(KEYS[1])
local forgotten, is_changed = {}, false
for i = 1, #ARGV do
  local number, start, spent, previous_spent = unpack_record('<dddd', ARGV[i])
  local field = whole(number)
  local b = bucket and parse_budget(redis_call('HGET', KEYS[i + 1], field), bucket.epoch)
  local is_held = b and b.held + b.previous_held > 0
  local differs = b and (b.spent ~= spent or b.previous_spent ~= previous_spent)
  -- A span without charges need not agree with Postgres.
  local is_other = b and b.spent > 0 and b.start ~= start
  if is_held or differs or is_other then
    forgotten[i] = '0'
  else
    forgotten[i] = '1'
    if bucket and redis_call('HDEL', KEYS[i + 1], field) == 1 then is_changed = true end
  end
end
if is_changed then
  bucket.evictions = bucket.evictions + 1
  write_bucket(KEYS[1], bucket)
end
return { 'ok', table.concat(forgotten) }
