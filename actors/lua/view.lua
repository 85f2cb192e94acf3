-- Reads a wallet at one instant.
--
-- KEYS  1 meta  2 wallet
-- ARGV  1 now_ms or ''  2 key
-- Reply { 'ok', now_ms, month, version, document, paid, free, free_expires_ms, held_paid,
-- held_free,
--         streams, spent, held, key spent, key held, seq, credits }
--       { 'recover' }  { 'hydrate' }

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return { 'recover' } end
local now = now_ms(ARGV[1])
local month = month_of(now)
local spent, held = 's' .. month, 'h' .. month
local w = redis.call('HMGET', KEYS[2], 'epoch', 'version', 'document', 'paid', 'free',
  'free_expires', 'held_paid', 'held_free', 'streams', spent, held, spent .. ':' .. ARGV[2],
  held .. ':' .. ARGV[2], 'seq', 'credits')
if w[1] ~= epoch then return { 'hydrate' } end
local reply = { 'ok', money(now), month }
for i = 2, 15 do reply[#reply + 1] = w[i] or '0' end
return reply
