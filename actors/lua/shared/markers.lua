-- Markers of idempotency keys (D-751); loaded after leases.lua. A marker says which request has an
-- idempotency key, with which content (path and body), and whether it was charged. A marker counts
-- only in the epoch of its bucket. Postgres has the charged requests of older epochs, and
-- load_markers.lua brings their markers back.

local MARKER_MS = 86400000
-- A marker is claimed while its call may still be charged, and charged after that. A call that was
-- not charged removes its marker. The calls of one response share a marker. The marker names the
-- response first, and then all calls that may be charged. Between two calls of a response the state
-- is the time until which the response may go on (D-945).
local CLAIMED, CHARGED = 0, 1
local CONTENT_LENGTH = 22

local function parse_marker(bytes, epoch)
  if not bytes then return nil end
  local _, of_epoch, state = unpack_record(MARKER_NUMBERS, bytes)
  if of_epoch ~= epoch then return nil end
  local text = string_sub(bytes, MARKER_BYTES + 1)
  return {
    state = state, content = string_sub(text, 1, CONTENT_LENGTH),
    requests = string_sub(text, CONTENT_LENGTH + 1),
  }
end

-- The response that a call is a part of, or the call if it is a whole response. The arguments have
-- the response after the contents of `count` markers.
local function owner_in(contents, count, request)
  local owner = string_sub(contents, count * CONTENT_LENGTH + 1)
  return owner ~= '' and owner or request
end

local function is_owned(m, owner)
  return string_sub(m.requests, 1, #owner) == owner
end

local function save_marker(key, epoch, m)
  redis_call('SET', key, marker_record(epoch, m), 'KEEPTTL')
end

local function write_marker(key, epoch, m, ms)
  if ms <= 0 then return end
  redis_call('SET', key, marker_record(epoch, m), 'PX', whole(ms))
end

-- The state of the idempotency key of a call. `keys` has from `first` on: whether all markers are
-- here, the marker that the call claims, and those of earlier secrets; `contents` has the content
-- of each. Returns the code of a refusal and the requests that have the key; nothing if the call
-- may claim the key; false if markers of the account may be missing here.
local function read_markers(keys, first, count, contents, epoch, request, now)
  local records = redis_call('MGET', unpack(keys, first, first + count - 1))
  if not records[1] or unpack_record('<d', records[1]) ~= epoch then return false end
  local owner = owner_in(contents, count - 1, request)
  for i = 2, count do
    local m = parse_marker(records[i], epoch)
    if m and not is_owned(m, owner) then
      local at = (i - 2) * CONTENT_LENGTH
      if m.content ~= string_sub(contents, at + 1, at + CONTENT_LENGTH) then
        return 'idempotency_key_mismatch', m.requests
      end
      local goes_on = m.state == CLAIMED or m.state > now
      return goes_on and 'idempotency_in_progress' or 'idempotency_already_charged', m.requests
    end
  end
  return nil
end

local function claim_marker(key, epoch, contents, count, request)
  local owner = owner_in(contents, count, request)
  local m = owner ~= request and parse_marker(redis_call('GET', key), epoch)
  if m then
    m.requests = m.requests .. ' ' .. request
    save_marker(key, epoch, m)
    return
  end
  local requests = owner == request and request or owner .. ' ' .. request
  local content = string_sub(contents, 1, CONTENT_LENGTH)
  write_marker(key, epoch, { state = CLAIMED, content = content, requests = requests }, MARKER_MS)
end

-- Ends the claim of a call whose hold has ended. The response of the call may go on until
-- `goes_on`, which is 0 for a call that is no part of a response, or whose process died.
local function end_claim(key, epoch, request, charged, goes_on)
  local m = parse_marker(redis_call('GET', key), epoch)
  local at = m and string.find(m.requests, request, 1, true)
  if not at then return end
  if charged <= 0 then
    -- The first name stays, because it is the name of the response.
    if at > 1 then
      m.requests = string_sub(m.requests, 1, at - 2) .. string_sub(m.requests, at + #request)
    end
    local is_last = not string.find(m.requests, ' ', 1, true)
    if is_last and (at == 1 or m.state == CLAIMED) then
      redis_call('DEL', key)
      return
    end
  end
  if charged > 0 or m.state ~= CLAIMED then
    m.state = m.state ~= CHARGED and goes_on > 0 and goes_on or CHARGED
  end
  save_marker(key, epoch, m)
end

-- True if another call has the idempotency key of a call that settles late.
local function is_taken_over(key, epoch, contents, request)
  local m = parse_marker(redis_call('GET', key), epoch)
  return m ~= nil and not is_owned(m, owner_in(contents, 1, request))
    and not string.find(m.requests, request, 1, true)
end

-- Marks a call that settled late, whose claim may have ended before.
local function mark_late(key, epoch, contents, request, charged, ms)
  if charged <= 0 then
    end_claim(key, epoch, request, 0, 0)
    return
  end
  local m = parse_marker(redis_call('GET', key), epoch)
  if m and string.find(m.requests, request, 1, true) then
    end_claim(key, epoch, request, charged, 0)
    return
  end
  local owner = owner_in(contents, 1, request)
  local requests = m and m.requests or owner
  if requests ~= request then requests = requests .. ' ' .. request end
  local content = string_sub(contents, 1, CONTENT_LENGTH)
  write_marker(key, epoch, { state = CHARGED, content = content, requests = requests }, ms)
end
