-- Sets a bucket up under a new epoch. Wallets and holds of older epochs become invalid; each wallet
-- is rebuilt from Postgres when it is next used. Leases stay: they lead the sweep to the invalid
-- holds.
--
-- KEYS  1 bucket  2 refused  3 events
-- ARGV  1 packed: epoch
-- Reply { 'ok' }  { 'newer' } this epoch or a later one is in force already

local epoch = unpack_record('<d', ARGV[1])
local bucket = read_bucket(KEYS[1])
if bucket and bucket.epoch >= epoch then return { 'newer' } end
redis_call('DEL', KEYS[2], KEYS[3])
-- Start the count of documents above that of any older epoch, even one that Redis lost: a process
-- that compares it with its last value must find a change.
write_bucket(KEYS[1], { epoch = epoch, evictions = 0, documents = epoch * 4294967296 })
return { 'ok' }
