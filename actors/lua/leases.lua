-- The leases of processes, which keep their holds from the sweep; loaded after limits.lua.

-- The leases that this server knows, by the holds that they keep: until when one has half of its
-- time left, and the epoch of its bucket. Only these scripts change leases. What else can lose one
-- also ends this memory (a restart, a full synchronisation from another server) or the epoch (a
-- bucket that was lost).
local known_leases = {}

local function know_lease(holds, epoch, ends, lease_ms)
  known_leases[holds] = { epoch = epoch, half = ends - lease_ms / 2 }
end

-- Whether a process is known to have a lease of its holds, for half of the time or more.
local function has_lease(holds, epoch, now)
  local known = known_leases[holds]
  return known and known.epoch == epoch and now <= known.half
end
