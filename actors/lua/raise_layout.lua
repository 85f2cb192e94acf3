-- Puts a layout in force in a bucket: from now on, records are written in it.
--
-- KEYS  1 bucket
-- ARGV  1 packed: layout
-- Reply { 'ok' }  { 'absent' } the bucket is not set up

local layout = unpack_record('<d', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 'absent' } end
if in_force < layout then
  in_force = layout
  write_bucket(KEYS[1], bucket)
end
return { 'ok' }
