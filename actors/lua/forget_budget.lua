-- Removes the budget of a run that has ended, if Postgres has all of it. Whoever reads Postgres at
-- this moment must read it again, as after an eviction.
--
-- KEYS  1 bucket  2 budgets
-- ARGV  1 packed: what it spent by Postgres  2 number
-- Reply { 'ok' }  { 'kept' } calls still hold some of it, or Postgres does not have all charges

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'ok' } end
local b = parse_budget(redis_call('HGET', KEYS[2], ARGV[2]), bucket.epoch)
if b and (b.held > 0 or b.spent ~= unpack_record('<d', ARGV[1])) then return { 'kept' } end
if redis_call('HDEL', KEYS[2], ARGV[2]) == 1 then
  bucket.evictions = bucket.evictions + 1
  write_bucket(KEYS[1], bucket)
end
return { 'ok' }
