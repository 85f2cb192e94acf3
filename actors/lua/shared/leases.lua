-- The leases of processes, which keep their holds from the sweep; loaded after limits.lua.

-- The leases that this server knows, by the holds that they keep: the time until which a lease has
-- half of its duration left, and the epoch of its bucket. Only these scripts change leases. Another
-- loss of a lease also ends this memory (a restart, a full synchronisation from another server) or
-- the epoch (a bucket that was lost).
local known_leases = {}

local function know_lease(holds, epoch, ends, lease_ms)
  known_leases[holds] = { epoch = epoch, half = ends - lease_ms / 2 }
end

-- Returns true if the lease of a process is known, with half of its time or more left.
local function has_lease(holds, epoch, now)
  local known = known_leases[holds]
  return known and known.epoch == epoch and now <= known.half
end
