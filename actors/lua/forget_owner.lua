-- Removes the lease of a process that is gone and has no hold left. The script checks both at one
-- instant, so a hold never lacks the lease that leads the sweep to it.
--
-- KEYS  1 leases  2 holds
-- ARGV  1 packed: now_ms or 0  2 owner
-- Reply { 'ok' }  { 'kept' }

local lease = redis_call('HGET', KEYS[1], ARGV[2])
if not lease then return { 'ok' } end
local given = unpack_record('<d', ARGV[1])
if tonumber(lease) > now_ms(given) or redis_call('EXISTS', KEYS[2]) == 1 then return { 'kept' } end
redis_call('HDEL', KEYS[1], ARGV[2])
known_leases[KEYS[2]] = nil
return { 'ok' }
