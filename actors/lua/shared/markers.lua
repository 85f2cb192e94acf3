-- Markers of idempotency keys (D-751); loaded after leases.lua. A marker says which request has an
-- idempotency key, with which content (path and body), and whether it was charged. It counts only
-- in the epoch of its bucket: of an older one, Postgres has the charged requests, which
-- load_markers.lua brings back.

local MARKER_MS = 86400000
-- A marker is claimed while its call may still be charged, and charged after that. A call that was
-- not charged removes its marker.
local CLAIMED, CHARGED = 0, 1
local CONTENT_LENGTH = 22

local function parse_marker(bytes, epoch)
  if not bytes then return nil end
  local _, of_epoch, state = unpack_record(MARKER_NUMBERS, bytes)
  if of_epoch ~= epoch then return nil end
  local text = string_sub(bytes, MARKER_BYTES + 1)
  return {
    state = state, content = string_sub(text, 1, CONTENT_LENGTH),
    request = string_sub(text, CONTENT_LENGTH + 1),
  }
end

local function write_marker(key, epoch, m, ms)
  if ms <= 0 then return end
  redis_call('SET', key, marker_record(epoch, m), 'PX', whole(ms))
end

-- The state of the idempotency key of a call. `keys` has from `first` on: whether all markers are
-- here, the marker that the call claims, and those of earlier secrets; `contents` has the content
-- of each. Returns the code of a refusal and the request that has the key; nothing if the call may
-- claim the key; false if markers of the account may be missing here.
local function read_markers(keys, first, count, contents, epoch, request)
  local records = redis_call('MGET', unpack(keys, first, first + count - 1))
  if not records[1] or unpack_record('<d', records[1]) ~= epoch then return false end
  for i = 2, count do
    local m = parse_marker(records[i], epoch)
    if m and m.request ~= request then
      local at = (i - 2) * CONTENT_LENGTH
      if m.content ~= string_sub(contents, at + 1, at + CONTENT_LENGTH) then
        return 'idempotency_key_mismatch', m.request
      end
      if m.state == CLAIMED then return 'idempotency_in_progress', m.request end
      return 'idempotency_already_charged', m.request
    end
  end
  return nil
end

local function claim_marker(key, epoch, contents, request)
  local content = string_sub(contents, 1, CONTENT_LENGTH)
  write_marker(key, epoch, { state = CLAIMED, content = content, request = request }, MARKER_MS)
end

-- Ends the claim of a call whose hold has ended.
local function end_claim(key, epoch, request, charged)
  local m = parse_marker(redis_call('GET', key), epoch)
  if not m or m.request ~= request then return end
  if charged <= 0 then
    redis_call('DEL', key)
  else
    m.state = CHARGED
    redis_call('SET', key, marker_record(epoch, m), 'KEEPTTL')
  end
end

-- True if another call has the idempotency key of a call that settles late.
local function is_taken_over(key, epoch, request)
  local m = parse_marker(redis_call('GET', key), epoch)
  return m ~= nil and m.request ~= request
end

-- Marks a call that settled late, whose claim may have ended before.
local function mark_late(key, epoch, m, charged, ms)
  if charged > 0 then write_marker(key, epoch, m, ms) else end_claim(key, epoch, m.request, 0) end
end
