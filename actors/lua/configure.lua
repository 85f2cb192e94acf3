-- Gives a wallet a newer access document; every process learns of it at its next admission, and by
-- the bucket's count of changes at its next renewal.
--
-- KEYS  1 bucket  2 wallet  3 document
-- ARGV  1 packed: version  2 document
-- Reply { 'ok' } it is there, or a newer one is  { 'absent' } no wallet here: hydration will bring
-- it

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'absent' } end
local w = read_wallet(KEYS[2], bucket.epoch)
if not w then
  -- Who is building the wallet at this moment may have read the document before: it must read
  -- again.
  bucket.evictions = bucket.evictions + 1
  write_bucket(KEYS[1], bucket)
  return { 'absent' }
end
local version = unpack_record('<d', ARGV[1])
if w.version < version then
  redis.call('SET', KEYS[3], ARGV[2])
  w.version, bucket.documents = version, bucket.documents + 1
  write_wallet(KEYS[2], w)
  write_bucket(KEYS[1], bucket)
end
return { 'ok' }
