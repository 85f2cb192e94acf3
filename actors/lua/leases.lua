-- The leases of processes, which keep their holds from the sweep; loaded after limits.lua.

-- The leases that this server knows, by the holds that they keep: when one ends, and the epoch of
-- its bucket. To read a lease in each admission took 2 % of what Redis does for a call. Only these
-- scripts change leases. What else can lose one also ends this memory (a restart, a full
-- synchronisation from another server) or the epoch (a bucket that was lost).
local known_leases = {}

local function know_lease(holds, epoch, ends)
  known_leases[holds] = { epoch = epoch, ends = ends }
end

-- Gives a process a lease of its holds in a bucket, unless it has one for half of the time or more.
local function keep_lease(leases, holds, owner, epoch, now, lease_ms)
  local known, needed = known_leases[holds], now + lease_ms / 2
  if known and known.epoch == epoch and known.ends >= needed then return end
  local ends = tonumber(redis_call('HGET', leases, owner) or 0)
  if ends < needed then
    ends = now + lease_ms
    redis_call('HSET', leases, owner, whole(ends))
  end
  know_lease(holds, epoch, ends)
end
