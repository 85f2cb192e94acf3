-- Reads all records of one account at one instant, and the journal of its bucket from an id on.
--
-- KEYS  1 bucket  2 wallet  3 document  4 events  5 leases  6 budgets  7.. keys of the account,
--         then the holds of each owner
-- ARGV  1 packed: now_ms or 0, how many keys, journal entries at most  2 account  3 stream id
--       4.. the owners, in the order of their holds
-- Reply { packed now_ms, bucket or '', wallet or '', document or '', leases, newest entry,
--         journal entries, { key or '', ... }, { owner, request, record, ... },
--         { budget, record, ... } }

local given, key_count, entries_max = unpack_record('<ddd', ARGV[1])
local key_states, holds = {}, {}
for i = 7, 6 + key_count do key_states[#key_states + 1] = redis_call('GET', KEYS[i]) or '' end
local first = 7 + key_count
for i = first, #KEYS do
  local records = redis_call('HGETALL', KEYS[i])
  for at = 1, #records, 2 do
    local readable = #records[at + 1] >= HOLD_BYTES
    local text = readable and string_sub(records[at + 1], HOLD_BYTES + 1) or ''
    if not readable or (account_of(text) == ARGV[2] and not is_ended(records[at + 1])) then
      holds[#holds + 1] = ARGV[4 + i - first]
      holds[#holds + 1] = records[at]
      holds[#holds + 1] = records[at + 1]
    end
  end
end
return {
  pack('<d', now_ms(given)), redis_call('GET', KEYS[1]) or '', redis_call('GET', KEYS[2]) or '',
  redis_call('GET', KEYS[3]) or '', redis_call('HGETALL', KEYS[5]),
  redis_call('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1),
  redis_call('XRANGE', KEYS[4], ARGV[3], '+', 'COUNT', whole(entries_max)), key_states, holds,
  redis_call('HGETALL', KEYS[6]),
}
