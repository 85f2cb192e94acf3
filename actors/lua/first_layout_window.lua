-- A window of the first layout, for the scripts that take one over: a hash with a field for each
-- slot, 'second * 10^6 + count'. Returns nil if there is none.
local function first_layout_window(key)
  local last = tonumber(redis_call('HGET', key, 'last') or '')
  local first = tonumber(redis_call('HGET', key, 'first') or '')
  if not last or not first then return nil end
  local window = { last = last, first = last, total = 0, bytes = empty_slots(), before = 0 }
  for second = max(first, last - SLOTS + 1), last do
    local slot = tonumber(redis_call('HGET', key, 'c' .. whole(second % SLOTS)) or '') or 0
    local counted = floor(slot / 1000000) == second and slot % 1000000 or 0
    if counted > 0 then
      window.first, window.total = min(window.first, second), window.total + counted
      set_count(window, second, counted)
    end
  end
  return window
end
