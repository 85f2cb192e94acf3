-- Removes the budgets of runs that have ended, if Postgres has all of them. Whoever reads Postgres
-- at this moment must read it again, as after an eviction: once, for any number of budgets (D-901).
--
-- KEYS  1 bucket  2.. of each run: the budgets of its account
-- ARGV  1.. of each run, packed: number of its budget, what it spent by Postgres
-- Reply { 'ok', of each run: '1', or '0' if calls still hold some of it, or Postgres does not have
--         all charges }

local bucket = read_bucket(KEYS[1])
local forgotten, is_changed = {}, false
for i = 1, #ARGV do
  local number, spent = unpack_record('<dd', ARGV[i])
  local field = whole(number)
  local b = bucket and parse_budget(redis_call('HGET', KEYS[i + 1], field), bucket.epoch)
  if b and (b.held > 0 or b.spent ~= spent) then
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
