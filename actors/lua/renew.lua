-- Renews the lease of a process in a bucket, and stores the cost that each of its streams has
-- reached.
--
-- KEYS  1 bucket  2 leases  3 holds
-- ARGV  1 packed: now_ms or 0, lease_ms  2 owner  3.. request, packed checkpoint, request, ...
-- Reply { had a lease (0/1), documents, lost request, ... } `documents` counts the changes of
--         access documents in this bucket

local given, lease_ms = unpack_record('<dd', ARGV[1])
local bucket = read_bucket(KEYS[1])
local had_lease = redis_call('HEXISTS', KEYS[2], ARGV[2])
known_leases[KEYS[3]] = nil
if had_lease == 1 then
  local ends = now_ms(given) + lease_ms
  redis_call('HSET', KEYS[2], ARGV[2], whole(ends))
  if bucket then know_lease(KEYS[3], bucket.epoch, ends, lease_ms) end
end
local reply = { had_lease, bucket and bucket.documents or 0 }
for i = 3, #ARGV, 2 do
  local bytes = redis_call('HGET', KEYS[3], ARGV[i])
  local hold = bytes and parse_hold(bytes)
  if hold and bucket and hold.epoch == bucket.epoch then
    local checkpoint = min(amount(unpack_record('<d', ARGV[i + 1])), hold.paid + hold.free)
    if checkpoint > hold.checkpoint then
      hold.checkpoint = checkpoint
      redis_call('HSET', KEYS[3], ARGV[i], hold_record(hold))
    end
  else
    reply[#reply + 1] = ARGV[i]
  end
end
return reply
