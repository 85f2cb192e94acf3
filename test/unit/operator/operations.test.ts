// Tests operators' views of the installation, and the work that they can repeat.

import { describe, expect, test } from "bun:test";
import type { ActionReply } from "../../../src/operator/act.ts";
import type { AuditsReply } from "../../../src/readings/audits.ts";
import type { EventsReply } from "../../../src/readings/events.ts";
import type { FoundAccountsReply } from "../../../src/readings/found-accounts.ts";
import type { GrantsReply } from "../../../src/readings/grants.ts";
import type { HealthReply, PausesReply } from "../../../src/readings/health.ts";
import type { MailsReply } from "../../../src/readings/mails.ts";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import type { RejectedReply } from "../../../src/readings/rejected.ts";
import type { RevenueReply } from "../../../src/readings/revenue.ts";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { AuditRuns } from "../../../src/store/audit/audit-runs.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { runAudits } from "../../../workers/audit-runs.ts";
import { flushForAudit } from "../../../workers/log-flush.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";

let count = 0;
const operators = await shared(ConsoleWorld.startForOperators());

function ask() {
  count += 1;
  return { id: `op_work_${count}`, reason: "Looking after it" };
}

const stores = () => operators.api.parts.stores;

async function work(): Promise<number> {
  const { database, actors } = stores();
  const { scripts } = actors;
  const runs = new AuditRuns(database);
  return await runAudits({
    runs,
    redis: scripts.redis,
    sleep: Bun.sleep,
    now: Date.now,
    log: silent,
    flush: () => flushForAudit(scripts, new Ledger(database)),
  });
}

async function found(text: string): Promise<string[]> {
  const path = `/accounts?text=${encodeURIComponent(text)}`;
  return (await operators.get<FoundAccountsReply>("operator", path)).body.accounts.map(
    ({ id }) => id,
  );
}

test.each([
  ["mails?before=1.1", 400],
  ["mails?before=999999999999999999.1", 400],
  ["events?before=999999999999999999.evt_1", 400],
  ["grants?before=999999999999999999.1.1", 400],
  ["configurations?before=999999999999999", 200],
  ["accounts?before=999999999999999", 200],
  ["trail?account=%00", 400],
])("a place that no page has named is no fault of ours: %s", async (query, status) => {
  expect((await operators.get("operator", `/${query}`)).status).toBe(status);
});

describe("search", () => {
  test("finds an account by each of its ids, its address, its name and its key", async () => {
    const account = await operators.account({ paid: "5" });
    const { database } = stores();
    await database.sql`
      UPDATE accounts SET email = 'Ada_1@example.com', name = '100% Ada' WHERE id = ${account.id}`;
    const [payment] = await database.sql`
      SELECT p.id FROM payments p JOIN accounts a ON a.number = p.account
      WHERE a.id = ${account.id}`;
    const answer = await operators.api.postTo("/v1/chat/completions", account, chatBody());
    await flushForAudit(stores().actors.scripts, new Ledger(database));
    const request = answer.headers.get("x-request-id") ?? "";
    const words = [account.id, account.keyId, String(payment?.id), request];
    for (const text of [...words, "ada_1@EXAMPLE", "100% a", account.key.slice(-4)]) {
      expect([text, await found(text)]).toEqual([text, [account.id]]);
    }
    for (const text of ["adax1@example.com", "acct_7n42DGM5Tflk9n8mt7Fhc7", "%%"]) {
      expect([text, await found(text)]).toEqual([text, []]);
    }
  });

  test("lists every account once, in pages", async () => {
    const made = new Set<string>();
    for (let i = 0; i < 60; i += 1) made.add((await operators.account()).id);
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const path: string = next === null ? "/accounts" : `/accounts?before=${next}`;
      const { body } = await operators.get<FoundAccountsReply>("operator", path);
      seen.push(...body.accounts.map(({ id }) => id));
      next = body.next;
    } while (next !== null);
    expect(seen).toHaveLength(new Set(seen).size);
    expect([...made].filter((id) => !seen.includes(id))).toEqual([]);
  });
});

describe("pauses", () => {
  test("are set and lifted as on the command line, and recorded", async () => {
    const pause = { ...ask(), target: "search" };
    expect((await operators.post<ActionReply>("operator", "/pauses/pause", pause)).status).toBe(
      200,
    );
    const { body } = await operators.get<PausesReply>("operator", "/pauses");
    expect(body.paused.map(({ target }) => target)).toEqual(["search"]);
    await operators.post("operator", "/pauses/resume", { ...ask(), target: "search" });
    expect(
      (await operators.post<ActionReply>("operator", "/pauses/pause", pause)).body.repeated,
    ).toBe(true);
    expect((await operators.get<PausesReply>("operator", "/pauses")).body.paused).toEqual([]);
    const trail = await operators.get<TrailReply>("operator", "/trail");
    const done = trail.body.entries.map(({ action, subject }) => `${action} ${subject}`);
    expect(done.slice(0, 2)).toEqual(["resume search", "pause search"]);
  });

  test("refuse an unknown target by its name", async () => {
    const refused = await operators.post("operator", "/pauses/pause", {
      ...ask(),
      target: "chess",
    });
    expect([refused.status, refused.code]).toEqual([400, "invalid_parameter"]);
    expect(refused.message).toContain("target");
  });
});

describe("the outbox", () => {
  test("shows the waiting mails, in pages, and makes one due", async () => {
    const { database } = stores();
    await database.sql`
      INSERT INTO outbox (kind, recipient, subject, text, html, created_at, next_attempt_at)
      SELECT 'receipt', 'ada@example.com', 's', 't', 'h', now() - n * interval '1 second',
        now() + interval '1 hour' FROM generate_series(1, 70) n`;
    const first = await operators.get<MailsReply>("operator", "/mails?status=waiting");
    const second = await operators.get<MailsReply>(
      "operator",
      `/mails?status=waiting&before=${first.body.next}`,
    );
    const ids = [...first.body.mails, ...second.body.mails].map(({ id }) => id);
    expect([ids.length, new Set(ids).size, second.body.next]).toEqual([70, 70, null]);
    const one = { ...ask(), mail: ids[3] };
    await operators.post<ActionReply>("operator", "/mails/retry", one);
    const due = () => database.sql`SELECT id FROM outbox WHERE next_attempt_at <= now()`;
    expect((await due()).map(({ id }) => id)).toEqual([ids[3]]);
    const all = await operators.post<ActionReply>("operator", "/mails/retry", ask());
    expect(all.body.done.detail).toBe("70 are due now");
    const missing = await operators.post("operator", "/mails/retry", { ...ask(), mail: "none" });
    expect([missing.status, missing.code]).toEqual([404, "not_found"]);
  });
});

describe("a mail that failed", () => {
  async function failedMail(account: number | null, text: string | null): Promise<string> {
    const [row] = await stores().database.sql`
      INSERT INTO outbox (kind, account, recipient, subject, text, html, status, created_at,
        ended_at)
      VALUES ('receipt', ${account}, 'ada@example.com', ${text}, ${text}, ${text}, 'failed',
        now(), now()) RETURNING id`;
    return String(row?.id);
  }

  async function mail(id: string) {
    const { body } = await operators.get<MailsReply>("operator", "/mails");
    return body.mails.find((one) => one.id === id);
  }

  test("is sent again once for each id, with a line that the account's people read", async () => {
    const { database, accounts } = stores();
    const { id: accountId } = await operators.account();
    const account = await accounts.find(accountId);
    const id = await failedMail(account?.number ?? null, "t");
    expect(await mail(id)).toMatchObject({ status: "failed", can_resend: true });
    const request = { ...ask(), mail: id };
    const sent = await operators.post<ActionReply>("operator", "/mails/resend", request);
    expect(sent.body).toMatchObject({
      done: { action: "resend_mail", account: accountId, subject: id, outcome: "done" },
      repeated: false,
    });
    expect(await mail(id)).toMatchObject({ status: "waiting", can_resend: false });
    // The mail fails again meanwhile: the same request must not send it a third time.
    await database.sql`UPDATE outbox SET status = 'failed', ended_at = now() WHERE id = ${id}`;
    const repeated = await operators.post<ActionReply>("operator", "/mails/resend", request);
    expect([repeated.status, repeated.body.repeated]).toEqual([200, true]);
    expect(await mail(id)).toMatchObject({ status: "failed" });
    const other = await operators.post("operator", "/mails/resend", {
      ...request,
      mail: await failedMail(null, "t"),
    });
    expect([other.status, other.code]).toEqual([409, "reference_reused"]);
    const lines = await database.sql`
      SELECT action, about FROM activity WHERE account = ${account?.number ?? 0}
        AND action = 'operator_resend_mail'`;
    expect(lines).toHaveLength(1);
  });

  test("is refused if its content is deleted, and if the mail does not exist", async () => {
    const gone = await failedMail(null, null);
    expect(await mail(gone)).toMatchObject({ status: "failed", can_resend: false });
    const refused = await operators.post("operator", "/mails/resend", { ...ask(), mail: gone });
    expect([refused.status, refused.code]).toEqual([409, "wrong_state"]);
    const missing = await operators.post("operator", "/mails/resend", { ...ask(), mail: "none" });
    expect([missing.status, missing.code]).toEqual([404, "not_found"]);
    const trail = await operators.get<TrailReply>("operator", "/trail");
    expect(trail.body.entries.filter(({ subject }) => subject === gone)).toEqual([]);
  });
});

describe("the inbox of events", () => {
  test("shows events, in pages", async () => {
    const { database } = stores();
    await database.sql`
      INSERT INTO provider_events (provider, id, type, object, object_id, status, result,
        occurred_at, processed_at)
      SELECT 'stripe', 'evt_' || n, 'charge.refunded', 'charge', 'ch_1', 'processed', 'refunded',
        now(), now() FROM generate_series(1, 60) n`;
    const first = await operators.get<EventsReply>("operator", "/events");
    const second = await operators.get<EventsReply>(
      "operator",
      `/events?before=${first.body.next}`,
    );
    const ids = [...first.body.events, ...second.body.events].map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([60, 60]);
  });

  test("refuses to take up an event of a provider that is not configured", async () => {
    const { database } = stores();
    await database.sql`
      INSERT INTO provider_events (provider, id, type, object, object_id, status, occurred_at)
      VALUES ('stripe', 'evt_past', 'charge.refunded', 'charge', 'ch_1', 'received', now())`;
    const replay = { ...ask(), provider: "stripe", event: "evt_past" };
    const refused = await operators.post("operator", "/events/replay", replay);
    expect([refused.status, refused.code]).toEqual([409, "wrong_state"]);
    const health = await operators.get<HealthReply>("operator", "/health");
    expect(health.body.events).toEqual({ waiting: 0, oldest_at: null });
  });
});

describe("rejected entries", () => {
  test("are listed with the missing amounts, and a retry says how many were written", async () => {
    const { database } = stores();
    const account = await operators.account();
    await database.sql`
      INSERT INTO rejected_entries (bucket, epoch, entry, account, seq, reason, content)
      VALUES (1, 0, 4711, ${account.id}, 3, '23514 of a test', decode('00', 'hex'))`;
    const { body } = await operators.get<RejectedReply>("operator", "/rejected");
    expect(body.entries).toMatchObject([
      { entry: "0-4711", account: account.id, seq: 3, missing: "ledger and log row" },
    ]);
    const retried = await operators.post<ActionReply>("operator", "/rejected/retry", ask());
    expect(retried.body.done.detail).toBe("0 of 1 were written");
    expect((await operators.get<HealthReply>("operator", "/health")).body.journal.rejected).toBe(1);
    await database.sql`DELETE FROM rejected_entries`;
  });
});

describe("an audit", () => {
  test("is run by a worker once, and its result can be read", async () => {
    const account = await operators.account({ paid: "5" });
    const wanted = { ...ask(), account: account.id };
    await operators.post("operator", "/audits", wanted);
    await operators.post("operator", "/audits", wanted);
    const runs = async () => (await operators.get<AuditsReply>("operator", "/audits")).body.runs;
    expect(await runs()).toMatchObject([{ id: wanted.id, state: "waiting", account: account.id }]);
    expect(await work()).toBe(1);
    const [run] = await runs();
    expect(run).toMatchObject({ state: "ended", done: 1, total: 1, failure: null });
    expect(run?.report).toMatchObject({ ok: true, accounts: 1, balance_usd: "5" });
    expect(await work()).toBe(0);
  });

  test("of all accounts names the finding", async () => {
    const account = await operators.account({ paid: "5" });
    const { database } = stores();
    await database.sql`
      UPDATE payments SET amount = amount * 2
      WHERE account = (SELECT number FROM accounts WHERE id = ${account.id})`;
    await operators.post("operator", "/audits", ask());
    await work();
    const { body } = await operators.get<AuditsReply>("operator", "/audits");
    expect(body.runs[0]?.report).toMatchObject({ ok: false });
    expect(body.runs[0]?.report?.difference?.account).toBe(account.id);
    await database.sql`
      UPDATE payments SET amount = amount / 2
      WHERE account = (SELECT number FROM accounts WHERE id = ${account.id})`;
  });
});

describe("money", () => {
  test("revenue is the sum of all charges, by service, model and day", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const path = `/revenue?from=${today}&to=${today}`;
    const before = (await operators.get<RevenueReply>("operator", path)).body;
    const accounts = [
      await operators.account({ paid: "5" }),
      await operators.account({ free: "5" }),
    ];
    for (const account of accounts) {
      expect((await operators.api.postTo("/v1/chat/completions", account, chatBody())).status).toBe(
        200,
      );
    }
    await flushForAudit(stores().actors.scripts, new Ledger(stores().database));
    const after = (await operators.get<RevenueReply>("operator", path)).body;
    const spent = await Promise.all(
      accounts.map(async ({ id }) => {
        const { body } = await operators.get<{ overview: OverviewReply }>(
          "operator",
          `/accounts/${id}`,
        );
        return Number(body.overview.month.spent_usd);
      }),
    );
    const charged = Number(after.total.charged_usd) - Number(before.total.charged_usd);
    expect(charged).toBeCloseTo(
      spent.reduce((all, one) => all + one, 0),
      9,
    );
    const free = Number(after.total.free_usd) - Number(before.total.free_usd);
    expect(free).toBeCloseTo(spent[1] ?? 0, 9);
    expect(after.total.calls - before.total.calls).toBe(2);
    expect(after.groups.find(({ name }) => name === "chat")?.by_day).toHaveLength(1);
    for (const group of ["model", "route"]) {
      const { body } = await operators.get<RevenueReply>("operator", `${path}&group=${group}`);
      expect(body.total).toEqual(after.total);
    }
  });

  test("a range that makes no sense is refused by its field", async () => {
    for (const [range, field] of [
      ["from=2026-11-22&to=2026-11-21", "to"],
      ["from=2026-02-30&to=2026-03-01", "from"],
      ["from=2020-01-01&to=2026-01-01", "to"],
      ["from=yesterday&to=2026-01-01", "from"],
      ["to=2026-01-01", "from"],
    ] as const) {
      const { status, message } = await operators.get("operator", `/revenue?${range}`);
      expect([range, status, message?.includes(field)]).toEqual([range, 400, true]);
    }
  });

  test("grants of free credit are listed in pages", async () => {
    for (let i = 0; i < 55; i += 1) await operators.account({ free: "1" });
    const first = await operators.get<GrantsReply>("operator", "/grants");
    const second = await operators.get<GrantsReply>(
      "operator",
      `/grants?before=${first.body.next}`,
    );
    const all = [...first.body.grants, ...second.body.grants].map(({ account }) => account);
    expect(all.length).toBeGreaterThanOrEqual(55);
    expect(new Set(all).size).toBe(all.length);
  });
});

test("health names the answering process, and its view", async () => {
  await stores().actors.start();
  const { body } = await operators.get<HealthReply>("operator", "/health");
  expect(body.process).toMatchObject({ id: stores().actors.deps.processId, open_calls: 0 });
  expect(body.journal.behind_seconds).toBeGreaterThanOrEqual(0);
});
