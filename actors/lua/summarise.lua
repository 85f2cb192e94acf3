-- Writes one log row per key and minute for refused requests of past minutes that were only
-- counted.
--
-- KEYS  1 bucket  2 refused  3 events
-- ARGV  1 packed: now_ms or 0, refused requests a minute that have rows of their own
-- Reply { summary rows written }

local given, rows_max = unpack_record('<dd', ARGV[1])
local bucket = read_bucket(KEYS[1])
if not bucket then return { 0 } end
local minute, written = floor(now_ms(given) / 60000), 0
local counts = redis.call('HGETALL', KEYS[2])
for i = 1, #counts, 2 do
  local account, key, of = string.match(counts[i], '^([^|]+)|([^|]+)|(%d+)$')
  if account and tonumber(of) < minute then
    local more = tonumber(counts[i + 1]) - rows_max
    local metadata = counts[i] .. '|metadata'
    if more > 0 then
      local text = { account, key, redis.call('HGET', KEYS[2], metadata) or '' }
      local fault = append(KEYS[3], bucket.epoch, nil, {
        type = SUMMARY, at = tonumber(of) * 60000, text = table.concat(text, '\t'),
        outcome = whole(more),
      })
      if fault then return fault end
      written = written + 1
    end
    redis.call('HDEL', KEYS[2], counts[i], metadata)
  end
end
return { written }
