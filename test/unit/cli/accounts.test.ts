import { describe, expect, test } from "bun:test";
import { isWellFormedKey, keyDigest } from "../../../src/core/access/keys.ts";
import { PendingWork } from "../../../src/store/accounts/pending-work.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  keyDirectory,
  openWorld,
  usd,
  verdictOrError,
  WORLD_PEPPER,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

async function newAccount(...more: string[]): Promise<string> {
  return String(jsonOf(await cli("account", "create", "--json", ...more)).id);
}

/** The verdict on a call with this key. */
async function verdictOf(account: string, keyId: string, more = {}): Promise<string> {
  const row = await world.store.find(account);
  if (row === null) throw new Error("The account is gone");
  const actor = world.accounts.of(row.id, row.bucket);
  return await verdictOrError({ actor, keyId }, usd("0.01"), more);
}

describe("account", () => {
  test("create makes a Gateway account with free credit, or an application account", async () => {
    const id = await newAccount("--email", "ann@example.org");
    expect(jsonOf(await cli("account", "show", id, "--json"))).toMatchObject({
      id,
      surface: "gateway",
      email: "ann@example.org",
      state: "active",
      state_reason: null,
      contract: null,
      tier: { name: "free", requests_per_minute: 20, monthly_cap_usd: 5 },
      next_tier: { name: "starter", unlock: { paid_usd: 5, days: 0 } },
      balance: { paid_usd: 0, free_usd: 5, held_usd: 0 },
      month: { spent_usd: 0, cap_usd: 5, own_cap_usd: null },
      keys: [],
      payments: [],
    });
    const other = await newAccount("--surface", "application");
    const shown = jsonOf(await cli("account", "show", other, "--json"));
    expect(shown).toMatchObject({ surface: "application", balance: { free_usd: 0 } });
  });

  test("show prints aligned lines with exact amounts and UTC times", async () => {
    const id = await newAccount();
    await cli("payment", "record", id, "--usd", "50.000000001", "--at", "2026-01-02T03:04+02:00");
    const { id: key } = jsonOf(
      await cli("key", "create", id, "--scopes", "Models,mail", "--name", "my key", "--json"),
    );
    const { code, out } = await cli("account", "show", id);
    expect(code).toBe(0);
    expect(out).toContain(`account    ${id}\n`);
    expect(out).toContain("tier       build\n");
    expect(out).toContain("next tier  scale: $250 paid and 14 days since the first payment\n");
    expect(out).toContain("paid       $50.000000001\n");
    expect(out).toMatch(/free {7}\$5 until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/);
    expect(out).toMatch(
      new RegExp(
        `  ${key}  my key  models,mail  ….{4}  \\$0 this month  any address  any model  ` +
          "any rate  no tag  never used\n",
      ),
    );
    expect(out).toMatch(/ {2}pay_\w{22} {2}\$50\.000000001 {2}2026-01-02 01:04:00 UTC\n/);
  });

  test("suspend refuses calls, resume lets them pass, and both may be repeated", async () => {
    const id = await newAccount();
    const { id: key } = jsonOf(await cli("key", "create", id, "--scopes", "models", "--json"));
    expect(await verdictOf(id, key)).toBe("admitted");
    for (const _ of [1, 2]) {
      expect(jsonOf(await cli("account", "suspend", id, "--json"))).toMatchObject({
        id,
        state: "suspended",
        state_reason: "operator",
        applied: true,
      });
    }
    expect(await verdictOf(id, key)).toBe("account_inactive");
    for (const _ of [1, 2]) {
      const resumed = jsonOf(await cli("account", "resume", id, "--json"));
      expect(resumed).toMatchObject({ state: "active", state_reason: null });
    }
    expect(await verdictOf(id, key)).toBe("admitted");
  });

  test("a suspension by a dispute is not for an operator to end", async () => {
    const id = await newAccount();
    const { id: payment } = jsonOf(await cli("payment", "record", id, "--usd", "5", "--json"));
    await cli("payment", "dispute", payment, "open");
    const { code, err } = await cli("account", "resume", id);
    expect([code, err]).toEqual([1, expect.stringContaining("suspended by a dispute")]);
    expect(jsonOf(await cli("account", "show", id, "--json"))).toMatchObject({
      state: "suspended",
      state_reason: "dispute",
    });
    expect((await cli("account", "suspend", id)).out).toContain("suspended (operator)");
    expect((await cli("account", "resume", id)).out).toContain("suspended (dispute)");
  });

  test("a closed account stays closed: its keys are revoked, it takes nothing new", async () => {
    const id = await newAccount();
    const { id: key } = jsonOf(await cli("key", "create", id, "--scopes", "models", "--json"));
    expect(jsonOf(await cli("account", "close", id, "--json")).state).toBe("closed");
    expect(jsonOf(await cli("account", "close", id, "--json")).state).toBe("closed");
    expect(await verdictOf(id, key)).toBe("invalid_api_key");
    const { keys } = jsonOf(await cli("account", "show", id, "--json"));
    expect(keys[0].revoked_at).toStartWith("20");
    for (const words of [
      ["account", "resume", id],
      ["account", "suspend", id],
      ["account", "contract", id, "enterprise"],
      ["account", "cap", id, "--usd", "5"],
      ["key", "create", id, "--scopes", "models"],
      ["payment", "record", id, "--usd", "5"],
    ]) {
      const { code, out, err } = await cli(...words);
      expect({ words, code, out }).toEqual({ words, code: 1, out: "" });
      expect(err).toContain("a closed account stays closed");
    }
  });

  test("contract and cap decide the tier and the spendable amount", async () => {
    const id = await newAccount();
    await cli("account", "contract", id, "enterprise");
    expect((await cli("account", "cap", id, "--usd", "12.5")).out).toContain("$12.5 per month");
    const shown = jsonOf(await cli("account", "show", id, "--json"));
    expect(shown).toMatchObject({
      contract: "enterprise",
      tier: { name: "enterprise" },
      next_tier: null,
      month: { cap_usd: 12.5, own_cap_usd: 12.5 },
    });
    await cli("account", "contract", id, "none");
    await cli("account", "cap", id, "--usd", "none");
    expect(jsonOf(await cli("account", "show", id, "--json"))).toMatchObject({
      contract: null,
      tier: { name: "free" },
      month: { cap_usd: 5, own_cap_usd: null },
    });
  });
});

describe("key", () => {
  test("create shows a key once, which works as its options say; revoke ends it", async () => {
    const id = await newAccount();
    await cli("payment", "record", id, "--usd", "20");
    const words = ["--scopes", "models,search,models", "--name", "ci", "--ip", "10.1.0.0/16,::1"];
    const made = jsonOf(
      await cli("key", "create", id, ...words, "--monthly-limit", "0.000000001", "--json"),
    );
    expect(made).toMatchObject({ account: id, name: "ci", scopes: ["models", "search"] });
    expect(isWellFormedKey("gateway", made.key)).toBe(true);
    const digest = keyDigest(made.key, WORLD_PEPPER);
    const directory = keyDirectory(world.database, WORLD_PEPPER);
    expect(await directory.find([digest], async () => true)).toMatchObject({
      keyId: made.id,
      accountId: id,
    });
    const inside = { clientIp: "10.1.2.3" };
    expect(await verdictOf(id, made.id)).toBe("ip_not_allowed");
    expect(await verdictOf(id, made.id, { ...inside, scope: "maps" })).toBe("insufficient_scope");
    expect(await verdictOf(id, made.id, inside)).toBe("key_budget_exceeded");
    const shown = await cli("account", "show", id);
    expect(shown.out).not.toContain(made.key);
    expect(jsonOf(await cli("key", "revoke", made.id, "--json"))).toEqual({
      id: made.id,
      revoked: true,
      applied: true,
    });
    expect(await verdictOf(id, made.id, inside)).toBe("invalid_api_key");
    expect((await cli("key", "revoke", made.id)).code).toBe(0);
  });

  test("a plan decides the requests a minute of an application account alone", async () => {
    const made = await cli(
      "account",
      "create",
      "--surface",
      "application",
      "--plan",
      "Pro",
      "--json",
    );
    const { id, plan } = jsonOf(made);
    expect(plan).toBe("pro");
    const free = jsonOf(
      await cli("account", "show", await newAccount("--surface", "application"), "--json"),
    );
    expect(free).toMatchObject({
      plan: "free",
      tier: null,
      next_tier: null,
      month: { cap_usd: null },
    });
    expect(jsonOf(await cli("account", "plan", id, "max", "--json"))).toMatchObject({
      plan: "max",
    });
    const { out } = await cli("account", "show", id);
    expect(out).toContain("plan     max: 120 requests per minute\n");
    expect(out).not.toContain("tier");
    const gateway = await newAccount();
    for (const [args, told] of [
      [["account", "plan", gateway, "pro"], "is of the gateway surface and has no plan"],
      [
        ["account", "contract", id, "enterprise"],
        "is of the application surface and has no contract",
      ],
    ] as const) {
      const { code, err } = await cli(...args);
      expect([code, err]).toEqual([1, expect.stringContaining(told)]);
    }
    const wrong = await cli("account", "create", "--plan", "pro");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("--surface application")]);
    const unknown = await cli("account", "plan", id, "gold");
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringContaining("The plan must be one of free, starter, pro, max"),
    ]);
  });

  test("a key of an application account has its one permission and its own form", async () => {
    const id = await newAccount("--surface", "application");
    const { key } = jsonOf(await cli("key", "create", id, "--scopes", "models", "--json"));
    expect(isWellFormedKey("application", key)).toBe(true);
    const { code, err } = await cli("key", "create", id, "--scopes", "models,mail");
    expect([code, err]).toEqual([1, expect.stringContaining("cannot have the scope 'mail'")]);
  });
});

describe("payment", () => {
  test("a payment is credited exactly and counts for the tier from its time on", async () => {
    const id = await newAccount();
    const long = new Date(Date.now() - 8 * 86_400_000).toISOString();
    const made = jsonOf(
      await cli("payment", "record", id, "--usd", "50.123456789", "--at", long, "--json"),
    );
    expect(made).toMatchObject({ account: id, amount_usd: 50.123456789, applied: true });
    const shown = jsonOf(await cli("account", "show", id, "--json"));
    expect(shown).toMatchObject({
      tier: { name: "build" },
      balance: { paid_usd: 50.123456789, free_usd: 5 },
      payments: [{ id: made.id, amount_usd: 50.123456789, paid_at: long }],
    });
  });

  test("no payment is booked that Redis could never count", async () => {
    const id = await newAccount();
    expect((await cli("payment", "record", id, "--usd", "9000000")).code).toBe(0);
    const { code, err } = await cli("payment", "record", id, "--usd", "8000");
    expect([code, err]).toEqual([1, expect.stringContaining("larger than Redis can count")]);
    const shown = jsonOf(await cli("account", "show", id, "--json"));
    expect(shown.balance.paid_usd).toBe(9000000);
  });

  test("a change that does not reach Redis is kept, reported, and completed later", async () => {
    const id = await newAccount();
    const cut = await cliOf(world, { REDIS_URL: "redis://127.0.0.1:1" });
    const { code, out, err } = await cut("key", "create", id, "--scopes", "models", "--json");
    expect([code, err]).toEqual([0, expect.stringContaining("the workers apply it")]);
    const made = JSON.parse(out);
    expect(made).toMatchObject({ applied: false, key: expect.stringContaining("svc_live_") });
    const unapplied = await new PendingWork(world.database).unapplied(new Date());
    expect(unapplied.map((place) => place.id)).toContain(id);
  });
});
