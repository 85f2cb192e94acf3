-- Removes a wallet that is idle and has every entry in Postgres, or that is of an older epoch and
-- so no longer used. A key's window stays while it counts anything: refused requests count there
-- and do not use the wallet.
--
-- KEYS  1 bucket  2 wallet  3 document  4 budgets  5.. keys of the account
-- ARGV  1 packed: now_ms or 0, seq in Postgres, idle_ms
-- Reply { 'ok' }  { 'kept' }

local given, seq, idle_ms = unpack_record('<ddd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket or redis_call('EXISTS', KEYS[2]) == 0 then return { 'kept' } end
local w = read_wallet(KEYS[2], bucket.epoch)
local now = now_ms(given)
if w then
  if now - w.used < idle_ms or w.seq ~= seq or has_holds(w) then return { 'kept' } end
end
redis_call('DEL', KEYS[2], KEYS[3], KEYS[4])
for i = 5, #KEYS do
  -- Most keys of an account may have ended long ago, and so have no state in Redis.
  if redis_call('EXISTS', KEYS[i]) == 1 then
    local k = read_key(KEYS[i], bucket.epoch)
    local window = window_of(k, {})
    open_window(window, now)
    if window.total == 0 then
      redis_call('DEL', KEYS[i])
    else
      -- No epoch is 0, so the key's spending will be read from Postgres again.
      write_key(KEYS[i], 0, k, window)
      redis_call('PEXPIRE', KEYS[i], SLOTS * 1000)
    end
  end
end
bucket.evictions = bucket.evictions + 1
write_bucket(KEYS[1], bucket)
return { 'ok' }
