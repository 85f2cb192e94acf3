-- Adds refusals that no script decided to those of a key and minute, for its summary row.
--
-- KEYS  1 bucket  2 refused
-- ARGV  1 packed: minutes since 1970, refusals  2 account  3 key  4 metadata
--       5 a name for these refusals: sent again, they count once
-- Reply { 'ok' }  { 'recover' } the bucket is not set up

local minute, refusals = unpack_record('<dd', ARGV[1])
if not read_bucket(KEYS[1]) then return { 'recover' } end
local field = ARGV[2] .. '|' .. ARGV[3] .. '|' .. whole(minute)
redis_call('HSETNX', KEYS[2], field, 0)
redis_call('HSETNX', KEYS[2], field .. '|metadata', ARGV[4])
redis_call('HSET', KEYS[2], field .. '|unscripted|' .. ARGV[5], whole(refusals))
return { 'ok' }
