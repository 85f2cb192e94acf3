-- Gives a wallet a newer access document. Every process finds out at its next admission, or at its
-- next renewal by the bucket's count of changes.
--
-- KEYS  1 bucket  2 wallet  3 document
-- ARGV  1 packed: version  2 document
-- Reply { 'ok' } Redis has this document or a newer one
--       { 'absent' } Redis has no such wallet: hydration will bring the document

local bucket = read_bucket(KEYS[1])
if not bucket then return { 'absent' } end
local w = read_wallet(KEYS[2], bucket.epoch)
if not w then
  -- A process that builds the wallet now may have read the old document: make it read again.
  bucket.evictions = bucket.evictions + 1
  write_bucket(KEYS[1], bucket)
  return { 'absent' }
end
local version = unpack_record('<d', ARGV[1])
if w.version < version then
  redis_call('SET', KEYS[3], ARGV[2])
  w.version, bucket.documents = version, bucket.documents + 1
  write_wallet(KEYS[2], w)
  write_bucket(KEYS[1], bucket)
end
return { 'ok' }
