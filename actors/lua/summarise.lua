-- Writes one log row per key and minute for refused requests of past minutes that were only
-- counted. Refusals that a process reports later get another row.
--
-- KEYS  1 bucket  2 refused  3 events
-- ARGV  1 packed: now_ms or 0, refused requests a minute that have rows of their own
-- Reply { summary rows written }

local given, rows_max = unpack_record('<dd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 0 } end
local minute, written = floor(now_ms(given) / 60000), 0
local counts = redis_call('HGETALL', KEYS[2])
-- Calls that were refused without a script have no rows of their own.
local unscripted, parts = {}, {}
for i = 1, #counts, 2 do
  local of = string.match(counts[i], '^(.+)|unscripted|')
  if of then
    unscripted[of] = (unscripted[of] or 0) + tonumber(counts[i + 1])
    parts[of] = parts[of] or {}
    table.insert(parts[of], counts[i])
  end
end
-- An earlier release, which does not know these fields, can have deleted the count that they belong
-- to.
for of in pairs(parts) do
  if redis_call('HEXISTS', KEYS[2], of) == 0 then
    table.insert(counts, of)
    table.insert(counts, '0')
  end
end
for i = 1, #counts, 2 do
  local account, key, of = string.match(counts[i], '^([^|]+)|([^|]+)|(%d+)$')
  if account and tonumber(of) < minute then
    local more = max(0, tonumber(counts[i + 1]) - rows_max) + (unscripted[counts[i]] or 0)
    local metadata = counts[i] .. '|metadata'
    if more > 0 then
      local text = { account, key, redis_call('HGET', KEYS[2], metadata) or '' }
      local fault = append(KEYS[3], bucket.epoch, nil, {
        type = SUMMARY, at = tonumber(of) * 60000, text = table.concat(text, '\t'),
        outcome = whole(more),
      })
      if fault then return fault end
      written = written + 1
    end
    redis_call('HDEL', KEYS[2], counts[i], metadata)
    for _, part in ipairs(parts[counts[i]] or {}) do redis_call('HDEL', KEYS[2], part) end
  end
end
return { written }
