-- Gives a process a lease for its holds in a bucket, unless half of its lease or more is left.
--
-- KEYS  1 bucket  2 leases  3 holds
-- ARGV  1 packed: now_ms or 0, lease_ms  2 owner
-- Reply { 'ok' }  { 'recover' } the bucket is not set up

local given, lease_ms = unpack_record('<dd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
local now = now_ms(given)
local ends = tonumber(redis_call('HGET', KEYS[2], ARGV[2]) or 0)
if ends < now + lease_ms / 2 then
  ends = now + lease_ms
  redis_call('HSET', KEYS[2], ARGV[2], whole(ends))
end
know_lease(KEYS[3], bucket.epoch, ends, lease_ms)
return { 'ok' }
