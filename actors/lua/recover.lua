-- Sets a bucket up under a new epoch. Wallets and holds of an older epoch are void from here on:
-- each is built anew from Postgres when it is next asked for.
--
-- KEYS  1 meta  2 leases  3 refused  4 journal
-- ARGV  1 epoch  2 number of the last journal entry that the ledger holds
-- Reply { 'ok' }  { 'newer' } this epoch or a later one is in force already

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and tonumber(epoch) >= tonumber(ARGV[1]) then return { 'newer' } end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'entry', ARGV[2], 'evictions', '0')
return { 'ok' }
