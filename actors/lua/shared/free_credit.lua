-- Free credit in lots, each with its own end (D-970). `w.free` is the sum of the lots, and
-- `free_expires` the last end. `w.ends` has every earlier end, by time, as five packed numbers: the
-- end; the credit left for calls that begin after the end; the holds of these calls; the amount by
-- which later grants lowered that credit; and the time when that credit was first counted, or 0 if
-- it was zero at first. `w.ends` is empty if there is one lot. Loaded after records.lua.

local END, END_BYTES = '<ddddd', 40
-- The next grant drops an end that both clocks passed longer ago than this.
local END_KEPT_MS = 86400000

local function ends_of(w)
  local ends = {}
  for place = 1, #w.ends, END_BYTES do
    local at, later, held, lowered, counted = unpack_record(END, w.ends, place)
    ends[#ends + 1] = { at = at, later = later, held = held, lowered = lowered, counted = counted }
  end
  return ends
end

local function set_ends(w, ends)
  local packed = {}
  for i, one in ipairs(ends) do
    packed[i] = pack(END, one.at, one.later, one.held, one.lowered, one.counted)
  end
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

-- Takes free credit for a call; gives it back if `taken` is below 0. `held` is the change of
-- the holds. A call takes from the lot that ends first, and only a call that began after an end
-- takes from the credit that end left.
local function use_free(w, admitted, taken, held)
  w.free = w.free - taken
  if w.ends == '' then return end
  local ends = ends_of(w)
  for _, one in ipairs(ends) do
    if admitted >= one.at then one.later, one.held = one.later - taken, one.held + held end
  end
  set_ends(w, ends)
end

-- Gives back the excess charge of the sweep. A lot that was added before this return did not see
-- the excess as credit: the lot lowered the ends by that amount, or counted its own end without it.
local function return_late(w, admitted, returned)
  if w.ends == '' or returned <= 0 then return end
  local ends = ends_of(w)
  for _, one in ipairs(ends) do
    local back = 0
    if admitted < one.counted then back = returned
    elseif admitted < one.at then back = min(returned, one.lowered)
    end
    one.later, one.lowered = one.later + back, max(0, one.lowered - back)
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

-- Removes free credit that a call gave back after the credit had ended: the balance would otherwise
-- keep it until the end of the other free credit. `call` has admitted and text.
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

-- Adds a lot after all free credit has ended. Calls may still hold some of the ended credit, so its
-- end is kept: without that end, the next lot would count the ended credit as its own.
local function replace_ends(w, now, lot)
  local last = w.free_expires
  w.free_since, w.ends, w.free_expires = now, '', max(last, lot.expires)
  if w.held_free > 0 and lot.expires > last then
    set_ends(w, { { at = last, later = lot.amount, held = 0, lowered = 0, counted = 0 } })
  end
end

-- Returns the ends that are still needed when a lot is added, and the amount of free credit that
-- has not ended, held amounts included. Credit that had ended by `ended` is no longer in the
-- balance.
local function known_ends(w, now, ended)
  local known, owned = ends_of(w), w.free + w.held_free
  local most, kept, forgets, since_is_known = owned, {}, false, false
  for _, one in ipairs(known) do
    if one.at <= now then most = max(0, min(most, one.later + one.held)) end
  end
  for _, one in ipairs(known) do
    -- Nothing is left of earlier lots, so their ends mean nothing.
    if owned == 0 or one.at + END_KEPT_MS <= ended then
      forgets = forgets or one.at <= w.free_since
    else
      kept[#kept + 1] = one
      since_is_known = since_is_known or one.at <= w.free_since
    end
    -- Calls spend the lot that ends first, so the later lots have at most `most`.
    if one.at > now and one.later > most then
      one.later, one.lowered = most, one.lowered + one.later - most
    end
  end
  -- Only the dropped end told how much a call from before that end may give back.
  if forgets and not since_is_known then w.free_since = 0 end
  return kept, most
end

-- Adds the end of a lot before its amount is added; src/core/money/free-lots.ts does the same.
local function add_end(w, now, lot)
  local last = w.free_expires
  if last == 0 then
    w.ends, w.free_expires = '', lot.expires
    return
  end
  local ends, most = known_ends(w, now, min(now, lot.created))
  -- A grant without an end expires with the last lot.
  local expires = lot.expires > 0 and lot.expires or last
  if expires > last then
    ends[#ends + 1] = { at = last, later = 0, held = 0, lowered = 0, counted = 0 }
    w.free_expires = expires
  end
  -- A passed end must not count calls that began before the lot came.
  local at = max(expires, now + 1)
  local place = 1
  while ends[place] and ends[place].at < at do place = place + 1 end
  local before = ends[place - 1]
  local found = { at = at, later = most, held = 0, lowered = 0, counted = now }
  if before and before.at > now then
    found.later, found.lowered, found.counted = before.later, before.lowered, before.counted
  end
  for i = 1, place - 1 do ends[i].later = ends[i].later + lot.amount end
  local is_known = at >= w.free_expires or (ends[place] and ends[place].at == at)
  if not is_known then table.insert(ends, place, found) end
  set_ends(w, ends)
end
