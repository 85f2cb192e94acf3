-- Loads markers of charged requests from the rows of Postgres: before the first call with an
-- idempotency key, and after a rebuild. A marker that Redis already has is newer, and stays. The
-- last part of an account sets `marked`: from then on Redis has all markers of the account.
--
-- KEYS  1 bucket  2 marked  3.. markers
-- ARGV  1 packed: epoch, is the last part (0/1)
--       2.. of each marker: content and requests, packed: time that the marker has left, ms
-- Reply { 'ok' }  { 'again' } the bucket has another epoch  { 'recover' }

local epoch, is_last = unpack_record('<dd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'recover' } end
if bucket.epoch ~= epoch then return { 'again' } end
for i = 3, #KEYS do
  if not parse_marker(redis_call('GET', KEYS[i]), epoch) then
    local text, at = ARGV[2 * i - 4], CONTENT_LENGTH
    local marker = {
      state = CHARGED, content = string_sub(text, 1, at), requests = string_sub(text, at + 1),
    }
    write_marker(KEYS[i], epoch, marker, unpack_record('<d', ARGV[2 * i - 3]))
  end
end
if is_last == 1 then
  redis_call('SET', KEYS[2], pack('<d', epoch), 'PX', MARKER_MS)
end
return { 'ok' }
