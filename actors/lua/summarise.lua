-- Turns the refused requests of ended minutes that were only counted into one log row a key and
-- minute.
--
-- KEYS  1 meta  2 refused  3 journal
-- ARGV  1 now_ms or ''  2 refused rows a minute that have rows of their own
-- Reply { summary rows written }

local minute, written = math.floor(now_ms(ARGV[1]) / 60000), 0
local counts = redis.call('HGETALL', KEYS[2])
for i = 1, #counts, 2 do
  local account, key, of = string.match(counts[i], '^([^|]+)|([^|]+)|(%d+)$')
  if account and tonumber(of) < minute then
    local rest = tonumber(counts[i + 1]) - tonumber(ARGV[2])
    local facts = counts[i] .. '|facts'
    if rest > 0 then
      append(KEYS[1], KEYS[3], {
        type = 'summary', account = account, key = key, at = tonumber(of) * 60000,
        facts = redis.call('HGET', KEYS[2], facts) or '', outcome = money(rest),
      })
      written = written + 1
    end
    redis.call('HDEL', KEYS[2], counts[i], facts)
  end
end
return { written }
