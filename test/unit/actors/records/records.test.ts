// Compares the two definitions of packed records by random values: the Lua files, which write them,
// and records.ts, which reads them.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { LAYOUT_MAX, LAYOUT_MIN } from "../../../../actors/records/layouts.ts";
import {
  isEnded,
  parseBucket,
  parseBudget,
  parseEntry,
  parseHold,
  parseKeyState,
  parseWallet,
  UnknownRecord,
  WINDOW_SLOTS,
} from "../../../../actors/records/records.ts";
import { asBytes, pack } from "../../../../actors/scripts/script.ts";
import { withShared } from "../../../../actors/scripts/shared-lua.ts";
import { budgetRefsText, parseBudgetRefs } from "../../../../src/core/access/budgets.ts";
import { OPERATION_KINDS } from "../../../../src/core/journal/journal.ts";
import { nano } from "../../../../src/core/money/money.ts";
import { openRedis } from "../../../../src/store/servers/redis.ts";
import { atEnd } from "../../../support/shared.ts";
import { testRedisUrl } from "../../../support/stores/services.ts";

const AMOUNT_MAX = 2 ** 53 - 1;
const KEY = "{records}:record";

const redis = openRedis(await testRedisUrl());
atEnd(() => redis.disconnect());

/** Runs Lua with the functions of records; KEYS[1] is a free key. */
async function run(lua: string, args: readonly (Buffer | string)[]): Promise<unknown> {
  await redis.del(KEY);
  return await asBytes(redis).evalBuffer(withShared(lua), 1, KEY, ...args);
}

/** Runs Lua, and returns the value that it left under the key. */
async function written(lua: string, ...args: readonly (Buffer | string)[]): Promise<Buffer> {
  await run(lua, args);
  const bytes = await redis.getBuffer(KEY);
  if (bytes === null) throw new Error("Nothing was written");
  return bytes;
}

const amount = fc.oneof(fc.constantFrom(0, 1, AMOUNT_MAX, 10 ** 14), fc.nat(AMOUNT_MAX));
const count = fc.nat(2 ** 40);
const slots = fc.array(fc.nat(0xffff), { minLength: WINDOW_SLOTS, maxLength: WINDOW_SLOTS });
/** No text of a record has a tab: ids have none, and JSON escapes them. */
const text = fc.string({ unit: "grapheme", maxLength: 30 }).map((of) => of.replaceAll("\t", " "));

/** Lua that names the doubles of ARGV[1]. */
function named(fields: readonly string[]): string {
  return `local v = { unpack_record('<' .. string.rep('d', ${fields.length}), ARGV[1]) }
    local r = { ${fields.map((field, index) => `${field} = v[${index + 1}]`).join(", ")} }`;
}

/** Amounts are bigint where a record is read. */
function asMoney<Fields extends string>(
  values: Readonly<Record<string, number>>,
  fields: readonly Fields[],
): Record<Fields, bigint> {
  const amounts = fields.map((field) => [field, BigInt(values[field] ?? 0)]);
  return Object.fromEntries(amounts) as Record<Fields, bigint>;
}

const WALLET = {
  counts: {
    epoch: "epoch",
    version: "version",
    seq: "seq",
    operations: "operations",
    lastMs: "free_expires",
    freeSinceMs: "free_since",
    streams: "streams",
    calls: "calls",
    month: "month",
    usedMs: "used",
  },
  amounts: {
    paid: "paid",
    free: "free",
    heldPaid: "held_paid",
    heldFree: "held_free",
    owed: "owed",
    spent: "spent",
    held: "held",
    previousSpent: "previous_spent",
    previousHeld: "previous_held",
  },
} as const;

function recordOf(fields: { readonly counts: object; readonly amounts: object }) {
  const entries = [
    ...Object.keys(fields.counts).map((field) => [field, count] as const),
    ...Object.keys(fields.amounts).map((field) => [field, amount] as const),
  ];
  return fc.record(Object.fromEntries(entries) as Record<string, fc.Arbitrary<number>>);
}

test("a wallet that a script writes is read as it was, by both", async () => {
  const names: Record<string, string> = { ...WALLET.counts, ...WALLET.amounts };
  await fc.assert(
    fc.asyncProperty(recordOf(WALLET), async (values) => {
      const lua = `${named(Object.keys(values).map((field) => names[field] ?? ""))}
        r.ends = ''
        set_ends(r, { { at = r.used, later = r.spent, held = r.held, lowered = r.paid,
            counted = r.month },
          { at = r.used + 1, later = r.held, held = r.paid, lowered = r.free,
            counted = 0 } })
        write_wallet(KEYS[1], r)
        local again = read_wallet(KEYS[1], r.epoch)
        for field, value in pairs(r) do
          if again[field] ~= value then error(field .. ' was read as another value') end
        end`;
      const read = parseWallet(await written(lua, pack(...Object.values(values))));
      const amounts = asMoney(values, Object.keys(WALLET.amounts));
      const { lastMs, ...fields } = values;
      const { usedMs = 0 } = values;
      const earlier = [
        {
          atMs: usedMs,
          later: amounts.spent,
          held: amounts.held,
          lowered: amounts.paid,
          countedMs: values.month,
        },
        {
          atMs: usedMs + 1,
          later: amounts.held,
          held: amounts.paid,
          lowered: amounts.free,
          countedMs: 0,
        },
      ];
      const expected = { ...fields, ...amounts, freeEnds: { lastMs, earlier } };
      expect<unknown>(read).toEqual({ ...expected, layout: LAYOUT_MIN });
    }),
    { numRuns: 60 },
  );
});

const STATE = {
  counts: { month: "month" },
  amounts: {
    spent: "spent",
    held: "held",
    previousSpent: "previous_spent",
    previousHeld: "previous_held",
  },
} as const;

test("spending of a key, and each second of its window, is read as it was written", async () => {
  const names: Record<string, string> = { ...STATE.counts, ...STATE.amounts };
  const window = fc.tuple(count, count, count, slots);
  await fc.assert(
    fc.asyncProperty(recordOf(STATE), window, count, async (values, of, epoch) => {
      const [last, first, total, counts] = of;
      const fields = [...Object.keys(values).map((field) => names[field] ?? ""), "epoch"];
      const lua = `${named([...fields, "last", "first", "total"])}
        local window = { last = r.last, first = r.first, total = r.total }
        window.last_ms, window.first_ms = r.last % 1000, r.first % 1000
        window.bytes, window.before = ARGV[2], 0
        for second, count in ipairs({ struct.unpack('<' .. string.rep('H', 61), ARGV[2]) }) do
          if second <= 61 then set_count(window, second - 1, count) end
        end
        write_key(KEYS[1], r.epoch, r, window)
        -- A script that does not read the window keeps it.
        write_key(KEYS[1], r.epoch, read_key(KEYS[1], r.epoch))`;
      const numbers = [...Object.values(values), epoch, last, first, total];
      const bytes = await written(lua, pack(...numbers), packCounts(counts));
      const amounts = asMoney(values, Object.keys(STATE.amounts));
      expect<unknown>(parseKeyState(bytes)).toEqual({
        layout: LAYOUT_MIN,
        epoch,
        month: values.month,
        ...amounts,
        window: {
          lastSecond: last,
          lastMs: last % 1000,
          firstSecond: first,
          firstMs: first % 1000,
          total,
          counts,
        },
      });
    }),
    { numRuns: 60 },
  );
});

function packCounts(counts: readonly number[]): Buffer {
  return Buffer.from(new Uint16Array(counts).buffer);
}

test("a hold is read as it was written, in whatever language its metadata is", async () => {
  const fields = ["epoch", "paid", "free", "month", "stream", "checkpoint", "admitted", "deadline"];
  const numbers = fc.tuple(count, amount, amount, count, fc.nat(1), amount, count, count);
  const texts = fc.tuple(text, text, text);
  await fc.assert(
    fc.asyncProperty(numbers, texts, async (values, [account, key, metadata]) => {
      const lua = `${named(fields)}
        r.text = ARGV[2]
        redis.call('SET', KEYS[1], hold_record(r))
        local bytes = redis.call('GET', KEYS[1])
        if is_ended(bytes) ~= (r.epoch == 0) then error('taken for an ended call, or not') end
        local again = parse_hold(bytes)
        for field, value in pairs(r) do
          if again[field] ~= value then error(field .. ' was read as another value') end
        end`;
      const [epoch, paid, free, month, stream, checkpoint, admittedMs, deadlineMs] = values;
      const bytes = await written(lua, pack(...values), [account, key, metadata].join("\t"));
      expect(parseHold(bytes)).toEqual({
        layout: LAYOUT_MIN,
        epoch,
        month,
        isStream: stream === 1,
        admittedMs,
        deadlineMs,
        paid: nano(BigInt(paid)),
        free: nano(BigInt(free)),
        checkpoint: nano(BigInt(checkpoint)),
        account,
        key,
        metadata,
        budgets: [],
      });
    }),
    { numRuns: 60 },
  );
});

test("a budget is read as written, and is void in another epoch", async () => {
  const fields = ["epoch", "start", "spent", "held"];
  const before = ["previous_start", "previous_spent", "previous_held"];
  const values = fc.tuple(count, count, amount, amount, count, amount, amount);
  await fc.assert(
    fc.asyncProperty(values, async (numbers) => {
      const lua = `${named([...fields, ...before])}
        redis.call('SET', KEYS[1], budget_record(r.epoch, r))
        local bytes = redis.call('GET', KEYS[1])
        if parse_budget(bytes, r.epoch + 1) then error('read in another epoch') end
        for field, value in pairs(parse_budget(bytes, r.epoch)) do
          if r[field] ~= value then error(field .. ' was read as another value') end
        end`;
      const [epoch, startMs, spent, held, previousStartMs, previousSpent, previousHeld] = numbers;
      expect(parseBudget(await written(lua, pack(...numbers)))).toEqual({
        layout: LAYOUT_MIN,
        epoch,
        startMs,
        spent: nano(BigInt(spent)),
        held: nano(BigInt(held)),
        previousStartMs,
        previousSpent: nano(BigInt(previousSpent)),
        previousHeld: nano(BigInt(previousHeld)),
      });
    }),
    { numRuns: 60 },
  );
});

test("a hold and an entry name the budgets that count them, or none", async () => {
  const budgets = [
    { number: 12, startMs: 1_764_201_600_000 },
    { number: 7, startMs: 0 },
  ];
  const lua = `local numbers = string.rep('\\0', 72)
    redis.call('SET', KEYS[1], numbers .. ARGV[1])`;
  const named = `a\tk\tm\t${budgetRefsText(budgets)}`;
  expect(parseHold(await written(lua, named)).budgets).toEqual(budgets);
  expect(parseHold(await written(lua, "a\tk\tm")).budgets).toEqual([]);
  expect(() => parseBudgetRefs("12:1.5")).toThrow(RangeError);
});

test("the reply that takes a hold's place is read as written, and is no hold", async () => {
  const reply = pack(1_500_000_000, 0, -1, AMOUNT_MAX);
  const lua = `redis.call('SET', KEYS[1], ended_record(ARGV[1]))
    local bytes = redis.call('GET', KEYS[1])
    if reply_in(parse_hold(bytes)) ~= ARGV[1] then error('another reply') end
    if not is_ended(bytes) then error('an open hold') end
    local open = { epoch = 1, paid = 1, free = 0, month = 0, stream = 0, checkpoint = 0,
      admitted = 0, deadline = 0, text = '' }
    if is_ended(hold_record(open)) then error('an ended call') end
    if reply_in(parse_hold(hold_record(open))) then error('a reply') end`;
  const bytes = await written(lua, reply);
  expect(isEnded(bytes)).toBe(true);
  // The release before this one reads it as a hold of no epoch and of no account.
  expect(parseHold(bytes)).toMatchObject({ epoch: 0, paid: 0n, free: 0n, key: "" });
});

test("a bucket's record is read as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(count, count, count), async ([epoch, evictions, documents]) => {
      const lua = `${named(["epoch", "evictions", "documents"])}
        write_bucket(KEYS[1], r)
        local again = read_bucket(KEYS[1])
        for field, value in pairs(r) do
          if again[field] ~= value then error(field .. ' was read as another value') end
        end`;
      const bytes = await written(lua, pack(epoch, evictions, documents));
      expect(parseBucket(bytes)).toEqual({ layout: LAYOUT_MIN, epoch, evictions, documents });
    }),
    { numRuns: 30 },
  );
});

test("a journal entry is read as it was written, numbers below zero too", async () => {
  const fields = [
    "type",
    "at",
    "seq",
    "paid_delta",
    "free_delta",
    "month",
    "operation",
    "held",
    "written_off",
    "overrun",
    "paid",
    "free",
    "held_paid",
    "held_free",
    "owed",
  ];
  const small = fc.nat(2 ** 50);
  const delta = fc.tuple(small, fc.boolean()).map(([of, isBelow]) => (isBelow ? -of : of));
  const numbers = fc.tuple(
    fc.nat(7),
    count,
    fc.nat(9_999),
    delta,
    delta,
    fc.nat(209_912),
    fc.nat(99),
    small,
    small,
    small,
    small,
    small,
    small,
    small,
    small,
  );
  const texts = fc.tuple(text, text, text, text, fc.constantFrom("", ...OPERATION_KINDS), text);
  await fc.assert(
    fc.asyncProperty(numbers, texts, fc.integer({ min: 1, max: 2 ** 40 }), async (v, t, epoch) => {
      const [account, key, metadata, request, kind, outcome] = t;
      const lua = `${named(fields)}
        local epoch = tonumber(ARGV[2])
        r.text, r.request, r.kind, r.outcome = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
        if r.seq == 0 then r.seq = nil end
        append(KEYS[1], epoch, r, r)`;
      const first = [account, key, metadata].join("\t");
      await run(lua, [pack(...v), String(epoch), first, request, kind, outcome]);
      const [[id, content] = []] = await redis.xrangeBuffer(KEY, "-", "+");
      expect(String(id)).toBe(`${epoch}-0`);
      const of = Object.fromEntries(fields.map((field, at) => [field, v[at] ?? 0]));
      const after = (...parts: string[]) =>
        of.seq === 0 ? 0n : BigInt(parts.reduce((sum, part) => sum + (of[part] ?? 0), 0));
      expect<unknown>(parseEntry(String(id), content?.[1] ?? Buffer.alloc(0))).toMatchObject({
        epoch,
        number: 0,
        atMs: of.at,
        seq: of.seq || null,
        account,
        key,
        request,
        metadata,
        outcome,
        kind: kind || null,
        month: of.month || null,
        operation: of.operation || null,
        paidDelta: BigInt(of.paid_delta ?? 0),
        freeDelta: BigInt(of.free_delta ?? 0),
        paidAfter: after("paid", "held_paid"),
        freeAfter: after("free", "held_free"),
        owedAfter: after("owed"),
        held: BigInt(of.held ?? 0),
        writtenOff: BigInt(of.written_off ?? 0),
        overrun: BigInt(of.overrun ?? 0),
      });
    }),
    { numRuns: 60 },
  );
});

test("each type of entry has the number in the scripts that it has here", async () => {
  const constants = ["CALL", "EXPIRED", "LATE", "REFUSED", "SUMMARY", "OPERATION"];
  const types = [...constants, "FREE_EXPIRED", "REPAYMENT"];
  for (const type of types) {
    await run(`append(KEYS[1], 1, nil, { type = ${type}, at = 1, text = 'a\\tb\\tc' })`, []);
    const [[id, content] = []] = await redis.xrangeBuffer(KEY, "-", "+");
    const entry = parseEntry(String(id), content?.[1] ?? Buffer.alloc(0));
    expect(entry.type.toUpperCase()).toBe(type);
  }
});

test("a record of a layout that this release does not know is refused with words", async () => {
  const strange = pack(LAYOUT_MAX + 1, 1, 0, 0);
  await redis.set(KEY, strange);
  const reading = asBytes(redis).evalBuffer(withShared("read_bucket(KEYS[1])"), 1, KEY);
  await expect(reading).rejects.toThrow(`LAYOUT ${LAYOUT_MAX + 1}`);
  const entry = Buffer.concat([
    pack(LAYOUT_MAX + 1, ...Array(13).fill(0)),
    Buffer.from("\t\t\t\t\t"),
  ]);
  expect(() => parseEntry("1-0", entry)).toThrow(UnknownRecord);
  expect(() => parseEntry("1-0", Buffer.from("short"))).toThrow(UnknownRecord);
  expect(() => parseWallet(Buffer.alloc(8))).toThrow(UnknownRecord);
  expect(() => parseKeyState(Buffer.alloc(100))).toThrow(UnknownRecord);
});
