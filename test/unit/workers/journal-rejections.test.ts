// Tests that no entry of a journal stops later ones: an entry that Postgres cannot take is put
// aside, with its reason, and everything else is written.

import { expect, test } from "bun:test";
import { streamEntry } from "../../../actors/journal.ts";
import { metadataText, outcomeText } from "../../../src/core/journal/journal.ts";
import { nano, usd } from "../../../src/core/money/money.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { openDatabase } from "../../../src/store/servers/database.ts";
import { shared } from "../../support/shared.ts";
import { type EntryFields, encodeEntry } from "../../support/stores/journal-encoder.ts";
import { METADATA, OUTCOME, openJournalLab } from "../../support/stores/journal-lab.ts";

const lab = await shared(openJournalLab());

const CENT = usd("0.01");
/** The lock of `ensure_request_log_partition`. */
const PARTITION_LOCK = 720_314_003;
let bucket = 0;
const nextAccount = () => lab.account(bucket++);

async function rejectionsOf(accountBucket: number) {
  return (await lab.rejected.openRejections()).filter((row) => row.bucket === accountBucket);
}

test("an endpoint that this release does not know is logged unchanged", async () => {
  const account = await nextAccount();
  const metadata = metadataText({ ...METADATA, endpoint: "/v9/new" });
  await account.call(CENT, { metadata });
  expect(await lab.flush()).toBe(2);
  expect(await rejectionsOf(account.bucket)).toEqual([]);
  expect(await account.log()).toMatchObject([
    {
      endpoint: "/v9/new",
      service: "models",
      lane: "main",
      held: 2n * CENT,
      cost: BigInt(CENT),
      free_cost: 0n,
      price_version: "p1",
      refused_by: null,
    },
  ]);
});

test("a refusal names the limit that refused it and held nothing", async () => {
  const account = await nextAccount();
  await account.refused();
  await account.refused({ outcome: "insufficient_credits 7" });
  await lab.flush();
  const rows = await account.log();
  expect(rows.map((row) => [row.error_code, row.latency_ms, row.refused_by, row.held])).toEqual(
    expect.arrayContaining([
      ["rate_limit_exceeded", 3, "mail_minute", null],
      ["insufficient_credits", 7, null, null],
    ]),
  );
});

test("entries wait for a partition that another session keeps from being made", async () => {
  const account = await nextAccount();
  await account.call(CENT);
  const url = new URL(lab.databaseUrl);
  url.searchParams.set("lock_timeout", "50");
  const database = openDatabase(url.href);
  const ledger = new Ledger(database);
  try {
    await lab.database.sql.begin(async (other) => {
      await other`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`;
      await expect(lab.flush({ ledger })).rejects.toThrow("lock timeout");
    });
    await lab.flush({ ledger });
  } finally {
    await database.close();
  }
  expect(await rejectionsOf(account.bucket)).toEqual([]);
  expect(await account.log()).toHaveLength(1);
});

const BAD_LOG_VALUES = {
  "NUL in a text": { metadata: metadataText({ ...METADATA, model: "m\0" }) },
  "a number that does not fit": { outcome: outcomeText({ ...OUTCOME, latencyMs: 3e9 }) },
  "a fraction where a whole number belongs": {
    outcome: outcomeText({ ...OUTCOME, promptTokens: 1.5 }),
  },
  "a text that is no JSON": { metadata: "{" },
  "a value of another type": { outcome: "[200,null,{},null,0,0,0,1,null,null]" },
  "too few values": { outcome: "[200]" },
} as const;

for (const [name, bad] of Object.entries(BAD_LOG_VALUES)) {
  test(`${name}: the log row is rejected, its money is written, and others go on`, async () => {
    const account = await nextAccount();
    await account.call(CENT);
    await account.call(CENT, bad);
    await account.call(CENT);
    expect(await lab.flush()).toBe(4);
    expect(await account.ledger()).toHaveLength(4);
    expect(await account.spent()).toBe(3n * CENT);
    expect(await account.log()).toHaveLength(2);
    const rejected = await rejectionsOf(account.bucket);
    expect(rejected).toMatchObject([
      { epoch: 1, entry: 2, account: account.id, seq: 3, ledgerWritten: true },
    ]);
    expect(rejected[0]?.reason).not.toBe("");
    expect(await lab.flush()).toBe(0);
  });
}

const BAD_MONEY = {
  "an unknown key": { key: "key_0000000000000000000000" },
  "an operation that Postgres does not have": { operation: 99 },
  "a request id that is none": { request: "req_!" },
  "a month that does not fit": { month: 1e12 },
  "a time that is none": { atMs: Number.NaN },
  "a type without a place in the ledger": { type: "refused" },
} as const;

for (const [name, bad] of Object.entries(BAD_MONEY)) {
  test(`${name}: the entry is put aside, and later entries pass the hole it leaves`, async () => {
    const account = await nextAccount();
    await account.call(CENT);
    await account.call(CENT, bad);
    await lab.flush();
    await account.call(CENT);
    await lab.flush();
    const rows = await account.ledger();
    expect(rows.map(({ seq }) => Number(seq))).toEqual([1, 2, 4]);
    expect(BigInt(rows.at(-1)?.paid_after)).toBe(account.paid);
    expect(await rejectionsOf(account.bucket)).toMatchObject([
      { entry: 2, account: account.id, seq: 3, ledgerWritten: false },
    ]);
    expect(lab.rebuilt).toEqual([]);
  });
}

test("an account that Postgres does not have delays no other", async () => {
  const account = await nextAccount();
  await account.call(CENT, { account: "acct_\0", seq: 1 });
  account.seq -= 1;
  account.paid += CENT;
  await account.call(CENT);
  await lab.flush();
  expect(await rejectionsOf(account.bucket)).toMatchObject([{ account: "acct_\ufffd", seq: 1 }]);
  expect(await account.ledger()).toHaveLength(2);
});

test("entries that cannot be read are put aside, and their places are passed", async () => {
  const account = await nextAccount();
  const other = await lab.account(account.bucket);
  await account.call(CENT);
  await lab.flush();
  account.seq += 1;
  account.paid -= CENT;
  const raw = Buffer.from("no entry at all");
  await account.writeRaw(raw);
  await other.call(CENT);
  await account.writeRaw(Buffer.alloc(200));
  await lab.flush();
  // The entry after the hole comes in a later flush.
  await account.call(CENT);
  await lab.flush();
  expect((await account.ledger()).map(({ seq }) => Number(seq))).toEqual([1, 2, 4]);
  expect(await other.ledger()).toHaveLength(2);
  expect(await rejectionsOf(account.bucket)).toMatchObject([
    { entry: 3, account: account.id, seq: 3, reason: "A journal entry record is too short" },
    { entry: 5, account: null, seq: null },
  ]);
  expect(await lab.rejected.contentOf({ bucket: account.bucket, epoch: 1, entry: 3 })).toEqual(raw);
  expect(lab.rebuilt).toEqual([]);
});

test("a balance below zero is put aside, and its account is suspended at once", async () => {
  const account = await nextAccount();
  await account.call(CENT, { paidAfter: nano(-1n) });
  await account.call(CENT);
  const rejected: number[] = [];
  await lab.flush({ onRejected: (entries) => rejected.push(entries.length) });
  expect(rejected).toEqual([1]);
  expect((await account.ledger()).map(({ seq }) => Number(seq))).toEqual([1, 3]);
  const [row] = await lab.database.sql`SELECT * FROM accounts WHERE number = ${account.number}`;
  expect(row).toMatchObject({ state: "suspended", state_reason: "negative_balance", version: 2 });
  expect(lab.lines.filter(({ level }) => level === "error")).toContainEqual({
    level: "error",
    fields: { accountId: account.id },
    message: "A balance is below zero: the account is suspended",
  });
});

test("a thousand good entries around a bad one are written in one flush", async () => {
  const [account, other] = [await nextAccount(), await nextAccount()];
  for (let call = 0; call < 500; call++) await account.call(CENT);
  await account.call(CENT, BAD_LOG_VALUES["NUL in a text"]);
  await Promise.all(Array.from({ length: 20 }, () => other.refused()));
  for (let call = 0; call < 480; call++) await account.call(CENT);
  expect(await lab.flush()).toBe(501 + 481 + 21);
  expect(await account.ledger()).toHaveLength(982);
  expect(await account.log()).toHaveLength(980);
  expect(await other.log()).toHaveLength(20);
});

test("an unexplained failure stops only its own bucket, and only while it lasts", async () => {
  const [account, other] = [await nextAccount(), await nextAccount()];
  await lab.flush();
  const { sql } = lab.database;
  await sql`CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.model = 'odd' THEN RAISE EXCEPTION 'odd' USING ERRCODE = 'XX000'; END IF;
    RETURN NEW; END $$`;
  await sql`CREATE TRIGGER odd BEFORE INSERT ON request_log FOR EACH ROW
    EXECUTE FUNCTION refuse_one()`;
  await account.call(CENT, { metadata: metadataText({ ...METADATA, model: "odd" }) });
  await other.call(CENT);
  await expect(lab.flush()).rejects.toThrow("could not be flushed");
  expect(await other.log()).toHaveLength(1);
  expect(await account.log()).toHaveLength(0);
  await sql`DROP TRIGGER odd ON request_log`;
  expect(await lab.flush()).toBe(1);
  expect(await account.log()).toHaveLength(1);
});

test("the encoder and the parser agree on every field", async () => {
  const fields: EntryFields = {
    type: "repayment",
    account: "a",
    key: "k",
    request: "r",
    atMs: 5,
    metadata: "m",
    outcome: "o",
    seq: 6,
    kind: "reversal",
    paidDelta: nano(-1n),
    freeDelta: nano(2n),
    paidAfter: nano(3n),
    freeAfter: nano(4n),
    owedAfter: nano(5n),
    month: 202611,
    budgets: [{ number: 3, startMs: 4 }],
    operation: 7,
    held: nano(8n),
    writtenOff: nano(9n),
    overrun: nano(10n),
  };
  const { entry, fault } = streamEntry("3-4", encodeEntry(fields));
  expect(fault).toBeNull();
  expect(entry).toEqual({ ...fields, epoch: 3, number: 4 });
});
