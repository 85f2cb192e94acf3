-- Loads budgets that Redis lacks from the rows of Postgres: after a rebuild, after an eviction, or
-- because the budgets are new. A loaded budget has no valid holds. Replies `again` if a wallet of
-- this bucket was evicted, or budgets of this account were forgotten, after the rows were read: the
-- rows may be stale.
--
-- KEYS  1 bucket  2 wallet  3 budgets  4 how often budgets of the account were forgotten
-- ARGV  1 packed: epoch, evictions, how often
--       2.. of each budget: number, packed: start of the newest span or -1, spent, and the same
--       of the span before
-- Reply { 'ok' }  { 'again' } read Postgres again  { 'recover' }  { 'hydrate' }

local epoch, evictions, times = unpack_record('<ddd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
if bucket.epoch ~= epoch or bucket.evictions ~= evictions then return { 'again' } end
if tonumber(redis_call('GET', KEYS[4]) or 0) ~= times then return { 'again' } end
if not read_wallet(KEYS[2], epoch) then return { 'hydrate' } end
for i = 2, #ARGV, 2 do
  if not parse_budget(redis_call('HGET', KEYS[3], ARGV[i]), epoch) then
    local b = new_budget()
    b.start, b.spent, b.previous_start, b.previous_spent = unpack_record('<dddd', ARGV[i + 1])
    amount(b.spent)
    amount(b.previous_spent)
    redis_call('HSET', KEYS[3], ARGV[i], budget_record(epoch, b))
  end
end
return { 'ok' }
