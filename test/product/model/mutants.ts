// Lists scripts with one fault each, which the model test must find. `good` is text of the real
// scripts, `bad` replaces it. A change of a script must also adapt its mutants.

import type { Mutant } from "./compared.ts";

export interface ModelMutant extends Mutant {
  /** The number of runs that reliably find it, if it takes more than usual. */
  readonly runs?: number;
}

const BALANCES: readonly ModelMutant[] = [
  {
    breaks: "what is charged leaves the balance",
    good: "w.paid = w.paid + hold.paid - charged_paid",
    bad: "w.paid = w.paid + hold.paid",
  },
  {
    breaks: "a wallet is built with its operations",
    good: "for i = 0, pending - 1 do",
    bad: "for i = 0, -1 do",
  },
  {
    breaks: "a wallet is evicted only when all of it is in Postgres",
    good: "or w.seq ~= seq",
    bad: "",
  },
  {
    breaks: "a wallet with open calls is not evicted",
    good: "or has_holds(w)",
    bad: "",
    runs: 192,
  },
  {
    breaks: "no call holds more than there is",
    good: "elseif bound > w.paid + usable_free then",
    bad: "elseif bound > w.paid + usable_free + 1000000000 then",
  },
  {
    breaks: "a late settlement takes no more than there is",
    good: "min(room - take_free, w.paid)",
    bad: "room - take_free",
    runs: 192,
  },
  {
    breaks: "ledger entries are numbered without a gap",
    good: "w.seq = w.seq + 1",
    bad: "w.seq = w.seq + 2",
  },
  {
    breaks: "an entry's balance is the one before and the change",
    good: "balances and w.paid + w.held_paid or 0",
    bad: "balances and w.paid or 0",
  },
];

const OPERATIONS: readonly ModelMutant[] = [
  {
    breaks: "an operation is applied once: a restore that is told twice pays twice",
    good: "w.operations = op.number",
    bad: "if op.kind ~= 'restore' then w.operations = op.number end",
    runs: 96,
  },
  {
    breaks: "a credit is applied once",
    good: "w.operations = op.number",
    bad: "w.operations = op.kind == 'credit' and op.number - 1 or op.number",
  },
  {
    breaks: "what a reversal cannot take is owed",
    good: "if op.kind == 'reversal' then owed_delta = paid_delta - op.amount end",
    bad: "",
  },
  {
    breaks: "a reversal takes nothing that an open call holds",
    good: "paid_delta = -min(w.paid, -op.amount)",
    bad: "paid_delta = -min(w.paid + w.held_paid, -op.amount)",
  },
  {
    breaks: "a negative adjustment leaves no debt",
    good: "if op.kind == 'reversal' then owed_delta",
    bad: "if true then owed_delta",
  },
  {
    breaks: "a debt that is forgiven is gone",
    good: "owed_delta = -min(w.owed, op.amount)",
    bad: "owed_delta = 0",
    runs: 96,
  },
  {
    breaks: "a credit pays what is owed",
    good: "if not fault then repay(events, w, now, account .. '\\t') end",
    bad: "",
  },
  {
    breaks: "what a call gives back pays what is owed",
    good: "repay(keys[5], w, hold.admitted, hold.text, request)",
    bad: "",
  },
  {
    breaks: "a wallet that is built without its holds pays what is owed",
    good: "local fault = repay(KEYS[4], w, now, ARGV[2] .. '\\t')",
    bad: "local fault = nil",
    runs: 192,
  },
  {
    breaks: "free credit never pays what is owed",
    good: "    free_delta = op.amount\n",
    bad: "    owed_delta = -min(w.owed, op.amount)\n    free_delta = op.amount + owed_delta\n",
    runs: 96,
  },
  {
    breaks: "an account that owes is served nothing",
    good: "elseif w.owed > 0 and attempt ~= 3 then",
    bad: "elseif false then",
  },
  {
    breaks: "an account is inactive before it owes",
    good: "if rank == 2 then code = refusal",
    bad: "if false then code = refusal",
    runs: 192,
  },
];

const HOLDS: readonly ModelMutant[] = [
  {
    breaks: "a hold is resolved at most once",
    good: "  redis_call('HDEL', keys[4], request)\n",
    bad: "  redis_call('HLEN', keys[4])\n",
  },
  {
    breaks: "a settlement sent again gets the first one's reply",
    good: "redis_call('HSET', KEYS[4], ARGV[2], ended_record(answer))",
    bad: "redis_call('HDEL', KEYS[4], ARGV[2])",
  },
  {
    breaks: "what is removed of calls that ended is no open hold",
    good: "if bytes and is_ended(bytes) then",
    bad: "if bytes then",
  },
  {
    breaks: "an admission sent again takes no second hold",
    good: "redis_call('HSETNX', holds, request, record) == 0",
    bad: "redis_call('HSET', holds, request, record) == 2",
  },
  {
    breaks: "a tentative admission sent again knows its hold",
    good: "if goes_on and not sent_before(holds, request, bucket.epoch) then",
    bad: "if goes_on then",
    runs: 192,
  },
  {
    breaks: "a settlement sent again is given its stored answer",
    good: "string_sub(stored, 1, 1) == 'D'",
    bad: "string_sub(stored, 1, 1) == '-'",
  },
  {
    breaks: "a refusal sent again is given its stored answer",
    good: "string_sub(before, 1, 1) == 'R'",
    bad: "string_sub(before, 1, 1) == '-'",
  },
  {
    breaks: "no charge is above its hold",
    good: "local charged = cost < total and cost or total",
    bad: "local charged = cost",
  },
  {
    breaks: "nor is what sweep and late settlement charge together",
    good: "min(cost, total) - charged",
    bad: "min(cost, total)",
  },
  {
    breaks: "a hold of an older epoch is void",
    good: "if w and hold.epoch == bucket.epoch then return w, k end",
    bad: "if w then return w, k end",
    runs: 96,
  },
  {
    breaks: "an open call is counted down when it ends",
    good: "w.streams - hold.stream, w.calls - calls_of(hold)",
    bad: "w.streams - hold.stream, w.calls",
  },
];

const LEASES: readonly ModelMutant[] = [
  {
    breaks: "every hold without its owner is resolved",
    good: "if ends > now_ms(given) then",
    bad: "if ends + 60000 > now_ms(given) then",
  },
  {
    breaks: "a renewed hold lives on",
    good: "local ends = now_ms(given) + lease_ms",
    bad: "local ends = now_ms(given)",
  },
  {
    breaks: "the first admission in a bucket brings the lease of its process",
    good: "ends = now + lease_ms\n  redis_call('HSET', KEYS[2], ARGV[2], whole(ends))",
    bad: "ends = now + lease_ms",
  },
  {
    breaks: "no hold without a lease",
    good: "not has_lease(holds, bucket.epoch, now)",
    bad: "false",
  },
  {
    breaks: "a lease stays as long as its process has holds",
    good: " or redis_call('EXISTS', KEYS[2]) == 1",
    bad: "",
  },
  {
    breaks: "a hold that belongs to no process lives by its own deadline",
    good: "local ends = hold.deadline > 0 and hold.deadline",
    bad: "local ends = false",
  },
  {
    breaks: "the sweep charges what was streamed",
    good: "resolve(KEYS, w, k, hold, hold.checkpoint,",
    bad: "resolve(KEYS, w, k, hold, 0,",
  },
];

const FREE_CREDIT: readonly ModelMutant[] = [
  {
    breaks: "free credit pays only what it may pay",
    good: "eligible == 1 and free_at(w, now) or 0",
    bad: "free_at(w, now)",
  },
  {
    breaks: "free credit ends",
    good: "if w.free_expires > 0 and time >= w.free_expires then return 0 end",
    bad: "if w.free_expires > 0 and time > w.free_expires + 86400000 then return 0 end",
  },
  {
    breaks: "free credit that ended is not prolonged by the next",
    good: "w.free_expires > 0 and ended >= w.free_expires",
    bad: "false",
    runs: 96,
  },
  {
    breaks: "nor by what a call gives back of it",
    good: "call.admitted >= w.free_since",
    bad: "call.admitted >= 0",
    runs: 96,
  },
  {
    breaks: "a lot ends by its own end, not by that of a later one",
    good: "  return min(w.free, later_than(w, time) or w.free)",
    bad: "  return w.free",
  },
  {
    breaks: "a lot that lasts longer does not prolong the one before",
    good: "    ends[#ends + 1] = { at = last, later = 0, held = 0, lowered = 0, counted = 0 }\n",
    bad: "",
  },
  {
    breaks: "a lot that ends sooner is spent first and ends alone",
    good: "if not is_known then table.insert(ends, place, found) end",
    bad: "",
  },
  {
    breaks: "the end of a lot leaves the lots that end later whole",
    good: "ends[i].later = ends[i].later + lot.amount",
    bad: "ends[i].later = ends[i].later",
  },
  {
    breaks: "calls after an end take from what goes on",
    good: "then one.later, one.held = one.later - taken, one.held + held end",
    bad: "then one.held = one.held + held end",
    runs: 96,
  },
  {
    breaks: "what a call gives back of a lot that ended is gone",
    good: "if one.at <= now then w.free_since = max(w.free_since, one.at) end",
    bad: "",
    runs: 192,
  },
  {
    breaks: "a wallet is built with the ends of its lots",
    good: "  ends = string_sub(ARGV[1], ends_at),",
    bad: "  ends = '',",
  },
  {
    breaks: "what has ended is removed before the next lot comes",
    good: "expire_free(events, w, account, ended)",
    bad: "expire_free(events, w, account, 0)",
    runs: 96,
  },
];

const MONTHS: readonly ModelMutant[] = [
  {
    breaks: "holds count toward the account's cap",
    good: "cap - month_use(w, month)",
    bad: "cap - w.spent",
  },
  {
    breaks: "holds count toward the key's budget",
    good: "budget - month_use(k, month)",
    bad: "budget - k.spent",
  },
  {
    breaks: "a call belongs to the month of its admission",
    good: "add_to_month(w, hold.month, charged, -total)",
    bad: "add_to_month(w, w.month, charged, -total)",
  },
  {
    breaks: "the month before is not forgotten",
    good: "record.previous_spent = follows and record.spent or 0",
    bad: "record.previous_spent = 0",
    runs: 96,
  },
  {
    breaks: "what a key spent in an older epoch is void",
    good: "if of_epoch ~= epoch then\n    k.month",
    bad: "if of_epoch == nil then\n    k.month",
    runs: 96,
  },
];

const WINDOWS: readonly ModelMutant[] = [
  {
    breaks: "no more streams than the tier has",
    good: "w.streams >= stream_limit",
    bad: "w.streams > stream_limit",
  },
  {
    breaks: "a stream that ended gives its slot back",
    good: "w.streams - hold.stream,",
    bad: "w.streams,",
  },
  {
    breaks: "no more requests than the window has",
    good: "local full, exceeded = window.total >= limit",
    bad: "local full, exceeded = window.total > limit",
  },
  {
    breaks: "a request that was counted before its body is not counted again",
    good: "if not is_counted then count_request(window, limits) end",
    bad: "count_request(window, limits)",
  },
  {
    breaks: "nor when it is refused",
    good: "if not window_full and not is_counted and before ~= 'S' then",
    bad: "if not window_full then",
  },
  {
    breaks: "nor when it is refused by who does not know that it was counted",
    good: "and not is_counted and before ~= 'S' then",
    bad: "and not is_counted then",
    runs: 192,
  },
  {
    breaks: "a request that was counted fits into the window that it filled",
    good: "local window_full = full and not is_counted",
    bad: "local window_full = full",
    runs: 192,
  },
  {
    breaks: "a count that is sent again counts once",
    good: "  if not redis_call('GET', op) then\n    redis_call('SET', op, 'S', 'PX', 60000)",
    bad: "  if true then\n    redis_call('SET', op, 'S', 'PX', 60000)",
    runs: 192,
  },
  {
    breaks: "a count before the body takes no hold",
    good: "or (attempt == 4 and not code)",
    bad: "",
  },
  {
    breaks: "no more requests of all keys than the plan has",
    good: "full = full or l.is_exceeded",
    bad: "full = full or false",
    runs: 96,
  },
  {
    breaks: "what is counted stays counted for 60 s",
    good: "elseif second - last >= SLOTS then",
    bad: "elseif second - last >= 30 then",
  },
  {
    breaks: "a slot counts until its last request is 60 s old",
    good: "if window.first == last then window.first_ms = window.last_ms end",
    bad: "",
  },
  {
    breaks: "a slot whose last request is 60 s old no longer counts",
    good: "if now - first * 1000 - ms_of(window, first) >= SPAN_MS then",
    bad: "if now - first * 1000 >= SPAN_MS then",
  },
  {
    breaks: "a slot that is passed is cleared",
    good: "    for passed = last + 1, second do empty_slot(window, passed) end\n",
    bad: "",
  },
  {
    breaks: "a window that the clock jumped back over is open 61 s later",
    good: "if open_window(window, now) then write_key(key_key, bucket.epoch, k, window) end",
    bad: "open_window(window, now)",
    runs: 192,
  },
  {
    breaks: "a revoked key is refused by the next call",
    good: "if w.version < version then",
    bad: "if w.version > version then",
  },
];

export const MUTANTS: readonly ModelMutant[] = [
  ...BALANCES,
  ...OPERATIONS,
  ...HOLDS,
  ...LEASES,
  ...FREE_CREDIT,
  ...MONTHS,
  ...WINDOWS,
];
