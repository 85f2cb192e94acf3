-- The leases of processes, which keep their holds from the sweep; loaded after limits.lua.

-- A cache of the leases on this server, by the key of their holds: the time until which half of a
-- lease or more is left, and the epoch of its bucket. Only these scripts change leases. If a lease
-- is lost in another way, the cache is lost too (a restart, a full synchronisation from another
-- server), or the epoch changes (a bucket that was lost).
local known_leases = {}

local function know_lease(holds, epoch, ends, lease_ms)
  known_leases[holds] = { epoch = epoch, half = ends - lease_ms / 2 }
end

-- Returns true if the lease of a process is known, with half of its time or more left.
local function has_lease(holds, epoch, now)
  local known = known_leases[holds]
  return known and known.epoch == epoch and now <= known.half
end
