// Scripts with one fault each, which the model test must find. `good` is the exact text that a
// script has, `bad` what stands there instead: whoever changes a script puts its mutants right.

import { admit } from "../../actors/admit-script.ts";
import { forgetOwner, renew, settle, settleLate, sweep } from "../../actors/call-scripts.ts";
import {
  applyOperation,
  configure,
  evict,
  expireFree,
  hydrate,
} from "../../actors/wallet-scripts.ts";
import type { Fault } from "./model-run.ts";

export interface Mutant extends Fault {
  readonly breaks: string;
  /** How many runs find it surely, where it takes more than usual. */
  readonly runs?: number;
}

const RESOLVING = [settle, sweep];
const OPERATING = [applyOperation, hydrate];
const READING_KEYS = [admit, settle, sweep, settleLate, hydrate];
const WRITING = [admit, settle, sweep, settleLate, applyOperation, hydrate, expireFree];

const BALANCES: readonly Mutant[] = [
  {
    breaks: "what is charged leaves the balance",
    scripts: RESOLVING,
    good: "w.paid, w.free = w.paid + hold.paid - charged_paid,",
    bad: "w.paid, w.free = w.paid + hold.paid,",
  },
  {
    breaks: "a wallet is built with its operations",
    scripts: [hydrate],
    good: "for i = 0, pending - 1 do",
    bad: "for i = 0, -1 do",
  },
  {
    breaks: "a wallet is evicted only when all of it is in Postgres",
    scripts: [evict],
    good: "or w.seq ~= seq",
    bad: "",
  },
  {
    breaks: "a wallet with open calls is not evicted",
    scripts: [evict],
    good: "or w.calls > 0",
    bad: "",
  },
  {
    breaks: "no call holds more than there is",
    scripts: [admit],
    good: "elseif bound > w.paid + usable_free then",
    bad: "elseif bound > w.paid + usable_free + 1000000000 then",
  },
  {
    breaks: "a late settlement takes no more than there is",
    scripts: [settleLate],
    good: "min(room - take_free, w.paid)",
    bad: "room - take_free",
    runs: 192,
  },
  {
    breaks: "ledger entries are numbered without a gap",
    scripts: WRITING,
    good: "w.seq = w.seq + 1",
    bad: "w.seq = w.seq + 2",
  },
  {
    breaks: "an entry's balance is the one before and the change",
    scripts: WRITING,
    good: "balances and w.paid + w.held_paid or 0",
    bad: "balances and w.paid or 0",
  },
];

const OPERATIONS: readonly Mutant[] = [
  {
    breaks: "an operation is applied once: a restore that is told twice pays twice",
    scripts: OPERATING,
    good: "w.operations = op.number",
    bad: "if op.kind ~= 'restore' then w.operations = op.number end",
    runs: 96,
  },
  {
    breaks: "a credit is applied once",
    scripts: OPERATING,
    good: "w.operations = op.number",
    bad: "w.operations = op.kind == 'credit' and op.number - 1 or op.number",
  },
  {
    breaks: "what a reversal cannot take is owed",
    scripts: OPERATING,
    good: "if op.kind == 'reversal' then owed_delta = paid_delta - op.amount end",
    bad: "",
  },
  {
    breaks: "a reversal takes nothing that an open call holds",
    scripts: OPERATING,
    good: "paid_delta = -min(w.paid, -op.amount)",
    bad: "paid_delta = -min(w.paid + w.held_paid, -op.amount)",
  },
  {
    breaks: "a negative adjustment leaves no debt",
    scripts: OPERATING,
    good: "if op.kind == 'reversal' then owed_delta",
    bad: "if true then owed_delta",
  },
  {
    breaks: "a debt that is forgiven is gone",
    scripts: OPERATING,
    good: "owed_delta = -min(w.owed, op.amount)",
    bad: "owed_delta = 0",
    runs: 96,
  },
  {
    breaks: "a credit pays what is owed",
    scripts: OPERATING,
    good: "if not fault then repay(events, w, { at = now, text = account .. '\\t' }) end",
    bad: "",
  },
  {
    breaks: "what a call gives back pays what is owed",
    scripts: RESOLVING,
    good: "repay(keys.events, w, { at = hold.admitted, text = hold.text, request = call.id })",
    bad: "",
  },
  {
    breaks: "a wallet that is built without its holds pays what is owed",
    scripts: [hydrate],
    good: "local fault = repay(KEYS[4], w, { at = now, text = ARGV[2] .. '\\t' })",
    bad: "local fault = nil",
    runs: 192,
  },
  {
    breaks: "free credit never pays what is owed",
    scripts: OPERATING,
    good: "    free_delta = op.amount\n",
    bad: "    owed_delta = -min(w.owed, op.amount)\n    free_delta = op.amount + owed_delta\n",
    runs: 96,
  },
  {
    breaks: "an account that owes is served nothing",
    scripts: [admit],
    good: "elseif w.owed > 0 then",
    bad: "elseif false then",
  },
  {
    breaks: "an account is inactive before it owes",
    scripts: [admit],
    good: "if refusal == 'account_inactive' then",
    bad: "if false then",
    runs: 192,
  },
];

const HOLDS: readonly Mutant[] = [
  {
    breaks: "a hold is resolved at most once",
    scripts: RESOLVING,
    good: "redis.call('HDEL', keys.holds, call.id)",
    bad: "redis.call('HLEN', keys.holds)",
  },
  {
    breaks: "an admission sent again takes no second hold",
    scripts: [admit],
    good: "redis.call('HSETNX', holds, request, hold_record(hold)) == 0",
    bad: "redis.call('HSET', holds, request, hold_record(hold)) == 2",
  },
  {
    breaks: "a tentative admission sent again knows its hold",
    scripts: [admit],
    good: " and redis.call('HEXISTS', holds, request) == 0",
    bad: "",
    runs: 192,
  },
  {
    breaks: "a settlement sent again is given its stored answer",
    scripts: [settle, settleLate],
    good: "string.sub(stored, 1, 1) == 'D'",
    bad: "string.sub(stored, 1, 1) == '-'",
  },
  {
    breaks: "a refusal sent again is given its stored answer",
    scripts: [admit],
    good: "string.sub(before, 1, 1) == 'R'",
    bad: "string.sub(before, 1, 1) == '-'",
  },
  {
    breaks: "no charge is above its hold",
    scripts: RESOLVING,
    good: "local charged = min(cost, total)",
    bad: "local charged = cost",
  },
  {
    breaks: "nor is what sweep and late settlement charge together",
    scripts: [settleLate],
    good: "min(cost, total) - charged",
    bad: "min(cost, total)",
  },
  {
    breaks: "a hold of an older epoch is void",
    scripts: RESOLVING,
    good: "if not w or hold.epoch ~= bucket.epoch then",
    bad: "if not w then",
    runs: 96,
  },
  {
    breaks: "an open call is counted down when it ends",
    scripts: RESOLVING,
    good: "w.streams - hold.stream, w.calls - 1",
    bad: "w.streams - hold.stream, w.calls",
  },
];

const LEASES: readonly Mutant[] = [
  {
    breaks: "every hold without its owner is resolved",
    scripts: [sweep],
    good: "if ends > now_ms(given) then",
    bad: "if ends + 60000 > now_ms(given) then",
  },
  {
    breaks: "a renewed hold lives on",
    scripts: [renew],
    good: "whole(now_ms(given) + lease_ms)",
    bad: "whole(now_ms(given))",
  },
  {
    breaks: "the first admission in a bucket brings the lease of its process",
    scripts: [admit],
    good: "redis.call('HSET', KEYS[6], ARGV[4], whole(now + lease_ms))",
    bad: "redis.call('HLEN', KEYS[6])",
  },
  {
    breaks: "a lease stays as long as its process has holds",
    scripts: [forgetOwner],
    good: " or redis.call('EXISTS', KEYS[2]) == 1",
    bad: "",
  },
  {
    breaks: "a hold that belongs to no process lives by its own deadline",
    scripts: [sweep],
    good: "local ends = hold.deadline > 0 and hold.deadline",
    bad: "local ends = false",
  },
  {
    breaks: "the sweep charges what was streamed",
    scripts: [sweep],
    good: "resolve(keys, w, hold, hold.checkpoint,",
    bad: "resolve(keys, w, hold, 0,",
  },
];

const FREE_CREDIT: readonly Mutant[] = [
  {
    breaks: "free credit pays only what it may pay",
    scripts: [admit],
    good: "eligible == 1 and not free_is_over and w.free or 0",
    bad: "not free_is_over and w.free or 0",
  },
  {
    breaks: "free credit ends",
    scripts: [admit],
    good: "w.free > 0 and w.free_expires > 0 and now >= w.free_expires",
    bad: "w.free > 0 and now > w.free_expires + 86400000",
  },
  {
    breaks: "free credit that ended is not prolonged by the next",
    scripts: OPERATING,
    good: "if w.free_expires > 0 and now >= w.free_expires then",
    bad: "if false then",
    runs: 96,
  },
  {
    breaks: "nor by what a call gives back of it",
    scripts: RESOLVING,
    good: "hold.admitted < w.free_since",
    bad: "hold.admitted < 0",
    runs: 96,
  },
];

const MONTHS: readonly Mutant[] = [
  {
    breaks: "holds count toward the account's cap",
    scripts: [admit],
    good: "cap - month_use(w, month)",
    bad: "cap - w.spent",
  },
  {
    breaks: "holds count toward the key's budget",
    scripts: [admit],
    good: "budget - month_use(k, month)",
    bad: "budget - k.spent",
  },
  {
    breaks: "a call belongs to the month of its admission",
    scripts: RESOLVING,
    good: "add_to_month(w, hold.month, charged, -total)",
    bad: "add_to_month(w, w.month, charged, -total)",
  },
  {
    breaks: "the month before is not forgotten",
    scripts: [admit],
    good: "record.previous_spent = follows and record.spent or 0",
    bad: "record.previous_spent = 0",
    runs: 96,
  },
  {
    breaks: "what a key spent in an older epoch is void",
    scripts: READING_KEYS,
    good: "if of_epoch ~= epoch then month, spent,",
    bad: "if false then month, spent,",
    runs: 96,
  },
];

const WINDOWS: readonly Mutant[] = [
  {
    breaks: "no more streams than the tier has",
    scripts: [admit],
    good: "w.streams >= stream_limit",
    bad: "w.streams > stream_limit",
  },
  {
    breaks: "a stream that ended gives its slot back",
    scripts: RESOLVING,
    good: "w.streams - hold.stream,",
    bad: "w.streams,",
  },
  {
    breaks: "no more requests than the window has",
    scripts: [admit],
    good: "local full, exceeded = window.total >= limit",
    bad: "local full, exceeded = window.total > limit",
  },
  {
    breaks: "no more requests of all keys than the plan has",
    scripts: [admit],
    good: "full = full or l.is_exceeded",
    bad: "full = full or false",
    runs: 96,
  },
  {
    breaks: "what is counted stays counted for 60 s",
    scripts: [admit],
    good: "elseif second - last >= SLOTS then",
    bad: "elseif second - last >= 30 then",
  },
  {
    breaks: "a slot that is passed is cleared",
    scripts: [admit],
    good: "        set_count(window, passed, 0)\n",
    bad: "",
  },
  {
    breaks: "a window that the clock jumped back over is open 61 s later",
    scripts: [admit],
    good: "if open_window(window, now) then write_key(key_key, bucket.epoch, k) end",
    bad: "open_window(window, now)",
    runs: 192,
  },
  {
    breaks: "a revoked key is refused by the next call",
    scripts: [configure],
    good: "if w.version < version then",
    bad: "if w.version > version then",
  },
];

export const MUTANTS: readonly Mutant[] = [
  ...BALANCES,
  ...OPERATIONS,
  ...HOLDS,
  ...LEASES,
  ...FREE_CREDIT,
  ...MONTHS,
  ...WINDOWS,
];
