// Tests that the pages' figures agree: chart, table, CSV, request log and ledger report the same
// calls alike, in any zone and grouping.

import { expect, test } from "bun:test";
import type { EndUserReply } from "../../../src/console/end-users.ts";
import { nano, toDecimal, usd } from "../../../src/core/money/money.ts";
import type { LedgerReply } from "../../../src/readings/ledger.ts";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import type { ReceiptReply } from "../../../src/readings/receipt.ts";
import { refusalOf } from "../../../src/readings/refusal-words.ts";
import type { RequestsReply } from "../../../src/readings/requests.ts";
import type { UsageReply } from "../../../src/readings/usage.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { accountPath, ConsoleWorld } from "../../support/api/console-world.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { Random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());

async function flush(): Promise<void> {
  const { actors, database } = world.api.parts.stores;
  await flushJournal({
    scripts: actors.scripts,
    ledger: new Ledger(database),
    log: silent,
    keepMs: 60_000,
    rebuild: (buckets) => actors.rebuild(buckets),
    onFork: () => {},
  });
}

const QUARTER_MS = 900_000;

/** The two hours around now. */
function rangeNow(): string {
  const now = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS;
  const [from, to] = [now - 4 * QUARTER_MS, now + 4 * QUARTER_MS];
  return `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
}

async function csv(account: TestAccount, rest: string): Promise<string[][]> {
  const url = `${world.api.parts.url}/console/api${accountPath(account, rest)}`;
  const response = await fetch(url, { headers: { cookie: "session=viewer" } });
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const lines = (await response.text()).trimEnd().split("\r\n");
  return lines.map((line) => line.split(",").map((cell) => cell.replace(/^"|"$/g, "")));
}

const sumUsd = (amounts: readonly string[]) =>
  toDecimal(nano(amounts.reduce((sum, amount) => sum + usd(amount), 0n)));

/** A busy account: answered, refused and failed calls of two models. */
async function busyAccount(): Promise<TestAccount> {
  const account = await world.account({ paid: "3", free: "0.01", ownCap: "4" });
  const random = new Random(3);
  for (let call = 0; call < 25; call += 1) {
    const model = random.next() < 0.5 ? "test-model" : "paid-only";
    const kind = random.next();
    if (kind < 0.15) await world.api.post(account, chatBody({ model: "no-such-model" }));
    else if (kind < 0.3)
      await world.api.post(account, chatBody({ model, max_tokens: 120_000_000 }));
    else await world.api.post(account, chatBody({ model }));
  }
  await flush();
  return account;
}

test("chart, table, CSV, request log and ledger agree to the last nano-dollar", async () => {
  const account = await busyAccount();
  const log = await world.get<RequestsReply>("viewer", accountPath(account, "requests?limit=200"));
  const rows = log.body.requests;
  expect(rows).toHaveLength(25);
  const { body: book } = await world.get<LedgerReply>(
    "viewer",
    accountPath(account, "ledger?kind=all"),
  );
  const charges = book.entries.filter(({ kind }) => kind === "charge");
  const cost = sumUsd(rows.map((row) => row.cost_usd));
  expect(usd(cost)).toBeGreaterThan(0n);
  expect(sumUsd(charges.map((entry) => entry.amount_usd))).toBe(`-${cost}`);
  for (const group of ["none", "service", "model", "key", "tag", "status"]) {
    for (const [step, zone] of [
      ["15m", "UTC"],
      ["1h", "Asia/Kathmandu"],
      ["1d", "America/New_York"],
      ["1mo", "Asia/Kolkata"],
    ]) {
      const query = `${rangeNow()}&group=${group}&step=${step}&zone=${zone}`;
      const { body } = await world.get<UsageReply>(
        "viewer",
        accountPath(account, `usage?${query}`),
      );
      const all = [body.total, ...[body.groups.map((one) => one.total)].map(summed)];
      const steps = body.groups.flatMap((one) => one.steps);
      expect(body.begins).toEqual(expect.arrayContaining(steps.map(({ at }) => at)));
      for (const sum of [...all, summed(steps)]) {
        expect(sum).toMatchObject({
          calls: 25,
          errors: rows.filter(({ code }) => code !== null).length,
          cost_usd: cost,
          free_usd: sumUsd(rows.map((row) => row.free_usd)),
          prompt_tokens: rows.reduce((tokens, row) => tokens + row.prompt_tokens, 0),
        });
      }
      const [head = [], ...lines] = await csv(account, `usage.csv?${query}`);
      const column = (name: string) => head.indexOf(name);
      // The sum of a column is the total.
      expect(sumUsd(lines.map((line) => line[column("cost_usd")] ?? ""))).toBe(cost);
      const calls = lines.map((line) => Number(line[column("calls")]));
      expect(calls.reduce((sum, one) => sum + one, 0)).toBe(25);
      for (const [begin = ""] of lines) expect(body.begins).toContain(begin);
    }
  }
  const [head = [], ...lines] = await csv(account, "requests.csv");
  expect(sumUsd(lines.map((line) => line[head.indexOf("cost_usd")] ?? ""))).toBe(cost);
});

test("usage names the starts of all its steps, even if the clock skips midnight", async () => {
  const account = await world.account();
  const range = "from=2026-09-04T04:00:00Z&to=2026-09-08T03:00:00Z&zone=America/Santiago";
  const path = accountPath(account, `usage?${range}&step=1d&group=none`);
  const { body } = await world.get<UsageReply>("viewer", path);
  expect(body.begins).toEqual([
    "2026-09-04T04:00:00.000Z",
    "2026-09-05T04:00:00.000Z",
    // From 23:59 the clock goes to 01:00.
    "2026-09-06T04:00:00.000Z",
    "2026-09-07T03:00:00.000Z",
  ]);
});

type Figures = UsageReply["total"];

function summed(all: readonly Figures[]): Partial<Figures> {
  const count = (name: "calls" | "errors" | "prompt_tokens") =>
    all.reduce((sum, one) => sum + one[name], 0);
  return {
    calls: count("calls"),
    errors: count("errors"),
    prompt_tokens: count("prompt_tokens"),
    cost_usd: sumUsd(all.map((one) => one.cost_usd)),
    free_usd: sumUsd(all.map((one) => one.free_usd)),
  };
}

test("a filter finds the same calls in usage, in the log and in its CSV", async () => {
  const account = await busyAccount();
  for (const filter of [
    "status=ok",
    "status=refused",
    "model=test-model",
    "service=chat",
    "service=mail",
    `key=${account.keyId}`,
    "key=key_7n42DGM5Tflk9n8mt7Fhc7",
    "model=none",
  ]) {
    const usageOf = `usage?${rangeNow()}&step=1h&group=none&${filter}`;
    const { body: used } = await world.get<UsageReply>("viewer", accountPath(account, usageOf));
    const logOf = accountPath(account, `requests?limit=200&${filter}`);
    const { body: logged } = await world.get<RequestsReply>("viewer", logOf);
    expect([filter, used.total.calls]).toEqual([filter, logged.requests.length]);
    expect(await csv(account, `requests.csv?${filter}`)).toHaveLength(used.total.calls + 1);
  }
});

test("pages of the log have every call once, newest first", async () => {
  const account = await busyAccount();
  const ids: string[] = [];
  const times: string[] = [];
  let before: string | null = "";
  while (before !== null) {
    const place: string = before === "" ? "" : `&before=${before}`;
    const path = accountPath(account, `requests?limit=7${place}`);
    const { body } = await world.get<RequestsReply>("viewer", path);
    ids.push(...body.requests.map(({ id }) => id));
    times.push(...body.requests.map(({ at }) => at));
    before = body.next;
  }
  expect(new Set(ids).size).toBe(25);
  expect(times).toEqual(times.toSorted().reverse());
});

test("a call opens as a receipt whose lines make up the charge", async () => {
  const account = await world.account({ paid: "3" });
  await world.api.post(account, chatBody());
  await world.api.post(account, chatBody({ max_tokens: 120_000_000 }));
  await flush();
  const { body } = await world.get<RequestsReply>("viewer", accountPath(account, "requests"));
  const [refused, paid] = body.requests;
  const opened = await world.get<ReceiptReply>(
    "viewer",
    accountPath(account, `requests/${paid?.id}`),
  );
  const { charged_usd, returned_usd, held_usd, lines, balance_after_usd } = opened.body;
  expect(sumUsd([charged_usd, returned_usd])).toBe(held_usd ?? "");
  expect(sumUsd(lines.map((line) => line.cost_usd ?? ""))).toBe(charged_usd);
  expect(sumUsd([balance_after_usd ?? "", charged_usd])).toBe("3");
  expect(opened.body.refusal).toBeNull();
  const other = await world.get<ReceiptReply>(
    "viewer",
    accountPath(account, `requests/${refused?.id}`),
  );
  expect(other.body).toMatchObject({ held_usd: null, charged_usd: "0", lines: [] });
  expect(other.body.refusal?.explanation).toMatch(/^Refused: .*\.$/);
});

test("a receipt says that the cap of its call ended the reply, and no other does", async () => {
  const account = await world.account({ paid: "3" });
  const { reply } = world.api.chat;
  const message = { role: "assistant", content: "cut" } as const;
  world.api.chat.reply = async () => ({
    choices: [{ index: 0, message, finish_reason: "length" }],
    usage: { promptTokens: 10, cachedTokens: 0, completionTokens: 400 },
  });
  const body = chatBody({ max_tokens: 4_000 });
  const headers = { "x-svc-max-cost-usd": "0.001" };
  try {
    await world.api.post(account, body, { headers });
    await world.api.post(account, body);
  } finally {
    world.api.chat.reply = reply;
  }
  await flush();
  const listed = await world.get<RequestsReply>("viewer", accountPath(account, "requests"));
  const stops = await Promise.all(
    listed.body.requests.map(async ({ id }) => {
      const path = accountPath(account, `requests/${id}`);
      return (await world.get<ReceiptReply>("viewer", path)).body.stopped_by;
    }),
  );
  expect(stops).toEqual([null, "max_cost"]);
});

test("a refusal by a key's own rules suggests no change of the key", () => {
  for (const [code, status] of [
    ["insufficient_scope", 403],
    ["ip_not_allowed", 403],
  ] as const) {
    expect(refusalOf(code, null, status)?.explanation).toMatch(/ create (?:a key|one)\b/);
  }
});

test("a call of another account gets the error of an unknown call", async () => {
  const [mine, theirs] = [await world.account({ paid: "3" }), await world.account({ paid: "3" })];
  await world.api.post(theirs, chatBody());
  await flush();
  const { body } = await world.get<RequestsReply>("viewer", accountPath(theirs, "requests"));
  const id = body.requests[0]?.id ?? "";
  const missing = "req_7n42DGM5Tflk9n8mt7Fhc7";
  const [one, two] = await Promise.all(
    [id, missing].map((request) => world.get("viewer", accountPath(mine, `requests/${request}`))),
  );
  expect([one?.status, two?.status]).toEqual([404, 404]);
  expect(one?.message?.replace(id, missing)).toBe(two?.message ?? "");
});

test("figures show how far they are behind, and stop when the journal is written", async () => {
  const account = await world.account({ paid: "3" });
  await world.api.post(account, chatBody());
  const path = accountPath(account, "requests");
  const before = await world.get<RequestsReply>("viewer", path);
  expect(before.body.requests).toEqual([]);
  expect(before.body.as_of.behind_seconds).toBeGreaterThan(0);
  await flush();
  const after = await world.get<RequestsReply>("viewer", path);
  expect(after.body.requests).toHaveLength(1);
  expect(after.body.as_of.behind_seconds).toBe(0);
});

test("the overview has the balances of this moment and the usage of today", async () => {
  const account = await busyAccount();
  const { body } = await world.get<OverviewReply>("viewer", accountPath(account, "overview"));
  expect(body.today.calls).toBe(25);
  expect(body.last_errors.length).toBeGreaterThan(0);
  expect(body.first_steps).toEqual({ has_key: true, has_called: true, has_paid: true });
  expect(body.month.own_cap_usd).toBe("4");
  expect(sumUsd([body.balance.paid_usd, body.balance.free_usd, body.today.cost_usd])).toBe("3.01");
});

test.each([
  [
    "from=2026-11-22T00:07:00Z&to=2026-11-23T00:00:00Z&step=1h&group=none",
    "from must be a multiple",
  ],
  ["from=2026-11-23T00:00:00Z&to=2026-11-22T00:00:00Z&step=1h&group=none", "to must be after"],
  ["from=2026-02-30T00:00:00Z&to=2026-03-22T00:00:00Z&step=1h&group=none", "from must be a time"],
  ["from=2020-01-01T00:00:00Z&to=2026-03-22T00:00:00Z&step=15m&group=none", "step must be longer"],
  [
    "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=1h&group=none&zone=%2B05:30",
    "zone must be",
  ],
  // Names that JavaScript knows and Postgres does not.
  [
    "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=1d&group=none&zone=US/Pacific-New",
    "zone must be",
  ],
  ["from=1999-12-31T00:00:00Z&to=2026-01-02T00:00:00Z&step=1mo&group=none", "2000 to 2999"],
  ["from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=1h&group=all", "group"],
  [
    "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=1h&group=none&grup=all",
    "grup is not known",
  ],
])("a wrong question of usage names its field: %s", async (query, words) => {
  const account = await world.account();
  const told = await world.get("viewer", accountPath(account, `usage?${query}`));
  expect(told.status).toBe(400);
  expect(told.message).toContain(words);
});

test.each([
  "before=x",
  "before=999999999999999.00000000-0000-0000-0000-000000000000",
  "min_cost_usd=99999999999999999999",
  "limit=201",
  "from=2026-13-01T00:00:00Z",
])("a wrong question of the log names its field: %s", async (query) => {
  const account = await world.account();
  const told = await world.get("viewer", accountPath(account, `requests?${query}`));
  expect(told.status).toBe(400);
  expect(told.message).toContain(query.split("=")[0] ?? "");
});

test("the request log and its CSV name run and end user, and filter by both", async () => {
  const account = await world.account({ paid: "5" });
  const budget = { span: "day", amount_usd: "1" };
  await world.post("owner", accountPath(account, "end-users/budget"), budget);
  for (const headers of [
    { "x-svc-end-user": "customer-1" },
    { "x-svc-end-user": "customer-2", "x-svc-run": "nightly; max-usd=1; step=plan" },
    {},
  ]) {
    await (await world.api.post(account, chatBody(), { headers })).text();
  }
  await flush();
  const asked = { end_user: "customer-2" };
  const path = accountPath(account, "end-users/show");
  const { id: hash } = (await world.post<EndUserReply>("viewer", path, asked)).body;
  const listed = async (query: string) => {
    const reply = await world.get<RequestsReply>(
      "viewer",
      accountPath(account, `requests?${query}`),
    );
    return reply.body.requests;
  };
  const all = await listed("limit=200");
  expect(all.filter(({ end_user: user }) => user === null)).toHaveLength(1);
  const named = { end_user: hash, run: "nightly", step: "plan" };
  for (const query of [`end_user=${hash}`, "run=nightly", `run=nightly&end_user=${hash}`]) {
    expect(await listed(query)).toMatchObject([named]);
    const [head = [], ...rows] = await csv(account, `requests.csv?${query}`);
    expect(rows.map((row) => row[head.indexOf("end_user")])).toEqual([hash]);
  }
  expect(await listed("end_user=customer-2")).toEqual([]);
});
