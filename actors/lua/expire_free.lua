-- Takes free credit whose time is over out of a balance that nobody uses.
--
-- KEYS  1 meta  2 wallet  3 journal
-- ARGV  1 now_ms or ''  2 account
-- Reply { 'ok' }  { 'recover' }  { 'hydrate' }

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return { 'recover' } end
if redis.call('HGET', KEYS[2], 'epoch') ~= epoch then return { 'hydrate' } end
expire_free(KEYS[1], KEYS[2], KEYS[3], ARGV[2], now_ms(ARGV[1]))
return { 'ok' }
