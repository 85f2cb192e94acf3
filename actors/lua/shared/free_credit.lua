-- Free credit in lots, each with an end of its own (D-970). `w.free` is the sum, and `free_expires`
-- the last end. Each earlier end is in `w.ends`: packed pairs, by time, of the end and of the
-- amount that is left to calls that begin after that end. A wallet of one lot has none. Loaded
-- after records.lua.

local END, END_BYTES = '<dd', 16
-- An end that passed this long ago is removed when the next lot comes.
local END_KEPT_MS = 86400000

local function ends_of(w)
  local ends = {}
  for place = 1, #w.ends, END_BYTES do
    local at, later = unpack_record(END, w.ends, place)
    ends[#ends + 1] = { at = at, later = later }
  end
  return ends
end

local function set_ends(w, ends)
  local packed = {}
  for i, one in ipairs(ends) do packed[i] = pack(END, one.at, one.later) end
  w.ends = table.concat(packed)
end

-- The amount that the ends up to a time leave to calls; nil if no earlier end has passed by that
-- time.
local function later_than(w, time)
  local least = nil
  for _, one in ipairs(ends_of(w)) do
    if one.at <= time then least = max(0, min(least or one.later, one.later)) end
  end
  return least
end

-- The free credit that is available to a call that begins at a time.
local function free_at(w, time)
  if w.free_expires > 0 and time >= w.free_expires then return 0 end
  if w.ends == '' then return w.free end
  return min(w.free, later_than(w, time) or w.free)
end

-- Takes free credit for a call; gives it back if `taken` is below 0. A call takes from the lot that
-- ends first, and only a call that began after an end takes from the amount that this end left.
local function use_free(w, admitted, taken)
  w.free = w.free - taken
  if w.ends == '' or taken == 0 then return end
  local ends = ends_of(w)
  for _, one in ipairs(ends) do
    if admitted >= one.at then one.later = one.later - taken end
  end
  set_ends(w, ends)
end

-- Removes free credit that has ended from the balance, with a ledger entry. Calls that hold some of
-- it keep that part. Returns the journal's fault if there is one; then nothing was written.
local function expire_free(events, w, account, now)
  local kept = free_at(w, now)
  for _, one in ipairs(ends_of(w)) do
    if one.at <= now then w.free_since = max(w.free_since, one.at) end
  end
  if kept >= w.free then return nil end
  local gone = w.free - kept
  w.free = kept
  return append(events, w.epoch, w, {
    type = FREE_EXPIRED, at = now, seq = next_seq(w), free_delta = -gone, text = account .. '\t\t',
  })
end

-- Removes free credit that a call gave back, if it has ended and other free credit goes on, which
-- would otherwise prolong it. `call` has admitted and text.
local function drop_lapsed(events, w, call, returned_free)
  if returned_free <= 0 or call.admitted >= w.free_since then return end
  local later = later_than(w, w.free_since)
  local gone = later and max(0, w.free - later) or returned_free
  if gone == 0 then return end
  w.free = w.free - gone
  append(events, w.epoch, w, {
    type = FREE_EXPIRED, at = w.free_since, seq = next_seq(w), free_delta = -gone,
    text = account_of(call.text) .. '\t\t',
  })
end

-- Adds the end of a lot before its amount is added; src/core/money/free-lots.ts does the same.
local function add_end(w, now, lot)
  local last, owned = w.free_expires, w.free + w.held_free
  -- Nothing is left of earlier lots, so their ends mean nothing.
  if owned == 0 or last == 0 then
    w.ends, w.free_expires = '', lot.expires
    return
  end
  local ends = {}
  for _, one in ipairs(ends_of(w)) do
    if one.at + END_KEPT_MS > now then ends[#ends + 1] = one end
    -- Since the lots came, calls have spent the lots that end first.
    if one.at > now then one.later = min(one.later, owned) end
  end
  -- Credit without an end goes with the last lot.
  local expires = lot.expires > 0 and lot.expires or last
  if expires > last then
    ends[#ends + 1] = { at = last, later = 0 }
    w.free_expires = expires
  end
  -- A passed end must not count calls that began before the lot came.
  local at = max(expires, now + 1)
  local place = 1
  while ends[place] and ends[place].at < at do place = place + 1 end
  local before = ends[place - 1]
  local later = before and before.at > now and before.later or owned
  for i = 1, place - 1 do ends[i].later = ends[i].later + lot.amount end
  local is_known = at >= w.free_expires or (ends[place] and ends[place].at == at)
  if not is_known then table.insert(ends, place, { at = at, later = later }) end
  set_ends(w, ends)
end
