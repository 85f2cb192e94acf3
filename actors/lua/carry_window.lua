-- Takes over a key's request window of the first layout into its current record.
--
-- KEYS  1 bucket  2 the window of the first layout  3 key
-- ARGV  none
-- Reply { 'ok' }  { 'recover' } the bucket is not set up

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
local window = first_layout_window(KEYS[2])
if window then
  local k = read_key(KEYS[3], bucket.epoch)
  local current = window_of(k, {})
  write_key(KEYS[3], bucket.epoch, k, window.last >= current.last and window or current)
  redis_call('DEL', KEYS[2])
end
return { 'ok' }
