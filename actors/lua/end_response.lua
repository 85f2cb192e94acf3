-- Ends a response of several calls, whose idempotency key was in progress between them: from now on
-- the key is charged. Nothing happens if none of them was charged, or if another call has the key.
--
-- KEYS  1 bucket  2 marker
-- ARGV  1 response
-- Reply { 'ok' }  { 'recover' } the bucket is not set up

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
local m = parse_marker(redis_call('GET', KEYS[2]), bucket.epoch)
if m and m.state > CHARGED and is_owned(m, ARGV[1]) then
  m.state = CHARGED
  save_marker(KEYS[2], bucket.epoch, m)
end
return { 'ok' }
