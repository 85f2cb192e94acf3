-- Forgets the spending of months to which no call can belong any more: those before the last one.
--
-- KEYS  1 wallet
-- ARGV  1 now_ms or ''
-- Reply { 'ok', fields removed }  { 'absent' } no wallet here

if redis.call('EXISTS', KEYS[1]) == 0 then return { 'absent' } end
local now, removed = now_ms(ARGV[1]), 0
-- 31 days ago is in the last month, or the one before it: never in this one.
local oldest = tonumber(month_of(now - 31 * 86400000))
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local month = string.match(field, '^[sh](%d%d%d%d%d%d)$')
    or string.match(field, '^[sh](%d%d%d%d%d%d):')
  -- What is still held of a month is needed to resolve its holds.
  if month and tonumber(month) < oldest
    and stored(redis.call('HGET', KEYS[1], 'h' .. month)) == 0 then
    removed = removed + redis.call('HDEL', KEYS[1], field)
  end
end
redis.call('HSET', KEYS[1], 'pruned', month_of(now))
return { 'ok', removed }
