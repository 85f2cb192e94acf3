import { describe, expect, test } from "bun:test";
import type { CapReply } from "../../../src/console/limits.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import { chatBody, completionOf, errorOf } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { eventually } from "../../support/eventually.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());

async function limitsOf({ id }: TestAccount): Promise<LimitsReply> {
  return (await world.get<LimitsReply>("viewer", `/accounts/${id}/limits`)).body;
}

function capOf({ id }: TestAccount): string {
  return `/accounts/${id}/limits/cap`;
}

describe("limits", () => {
  test("count the present requests, money and open calls", async () => {
    const account = await world.account({ paid: "5", monthlyLimit: "2" });
    await world.api.post(account, chatBody());
    await world.api.post(account, chatBody({ model: "nothing" }));
    const stream = await world.api.post(account, chatBody({ stream: true }));
    const during = await limitsOf(account);
    expect(during.tier).toEqual({ kind: "tier", name: "starter" });
    expect(during.requests).toMatchObject({ per_minute_key: 60, per_minute_account: null });
    expect(during.requests.keys).toMatchObject([
      { id: account.keyId, used: 3, monthly_limit_usd: "2" },
    ]);
    expect(during.open).toMatchObject({ streams_max: 5, calls_max: 20 });
    await stream.text();
    await eventually("the stream has ended", async () => {
      return (await limitsOf(account)).open.calls === 0;
    });
    const after = await limitsOf(account);
    const { monthSpent } = await world.api.view(account);
    expect(monthSpent).toBeGreaterThan(0n);
    expect(after.month.spent_usd).toBe((Number(monthSpent) / 1e9).toFixed(9).replace(/0+$/, ""));
    expect(after.requests.keys[0]?.month_spent_usd).toBe(after.month.spent_usd);
    expect(after.month).toMatchObject({ held_usd: "0", tier_cap_usd: "100", own_cap_usd: null });
  });

  test("count a key's requests of the day and its tokens, with what is left", async () => {
    const account = await world.account({
      paid: "5",
      requestsPerDay: 100,
      tokensPerMinute: 50_000,
      tokensPerDay: 200_000,
    });
    const before = await limitsOf(account);
    const unused = (most: number) => ({ used: 0, most, left: most, renews_at: null });
    expect(before.requests.keys).toMatchObject([
      { requests_day: unused(100), tokens_minute: unused(50_000), tokens_day: unused(200_000) },
    ]);
    const { usage } = await completionOf(await world.api.post(account, chatBody()));
    const after = await limitsOf(account);
    const now = Date.parse(after.as_of.at);
    const tomorrow = new Date(now - (now % DAY_MS) + DAY_MS).toISOString();
    const used = (count: number, most: number) => ({ used: count, most, left: most - count });
    expect(after.requests.keys).toMatchObject([
      {
        requests_day: { ...used(1, 100), renews_at: tomorrow },
        tokens_minute: used(usage.total_tokens, 50_000),
        tokens_day: { ...used(usage.total_tokens, 200_000), renews_at: tomorrow },
      },
    ]);
    const renewsMs = Date.parse(after.requests.keys[0]?.tokens_minute?.renews_at ?? "");
    expect(renewsMs - now).toBeGreaterThan(0);
    expect(renewsMs - now).toBeLessThanOrEqual(61_000);
    const [free] = (await limitsOf(await world.account())).requests.keys;
    expect([free?.requests_day, free?.tokens_minute, free?.tokens_day]).toEqual([null, null, null]);
  });

  test("name the one that binds", async () => {
    const byBalance = await world.account({ paid: "5" });
    const byTier = await world.account({ paid: "500" });
    const suspended = await world.account({ state: "suspended", stateReason: "operator" });
    const owing = await world.account({ paid: "5", reversed: "9" });
    expect((await limitsOf(byBalance)).binds).toBe("balance");
    expect((await limitsOf(byTier)).binds).toBe("tier_cap");
    expect((await limitsOf(suspended)).binds).toBe("inactive");
    expect((await limitsOf(owing)).binds).toBe("owed");
  });

  test("name the budget that binds, with what is left of it and when it renews", async () => {
    const budgets = { day: "2", total: "4" };
    const account = await world.account({ paid: "5", keyBudgets: { day: "1" }, budgets });
    await world.api.post(account, chatBody());
    const { binds, binds_budget, as_of, ...limits } = await limitsOf(account);
    const now = Date.parse(as_of.at);
    const ofDay = limits.budgets.find(({ key, span }) => key === null && span === "day");
    const left_usd = ofDay?.left_usd ?? "";
    expect(left_usd).toMatch(/^1\.9/);
    const renews_at = new Date(now - (now % DAY_MS) + DAY_MS).toISOString();
    expect([binds, binds_budget]).toEqual(["budget", { span: "day", left_usd, renews_at }]);
    const overview = `/accounts/${account.id}/overview`;
    const { balance } = (await world.get<OverviewReply>("viewer", overview)).body;
    expect(balance).toMatchObject({
      spendable_usd: left_usd,
      spendable_limit: "budget",
      spendable_budget: { span: "day", left_usd, renews_at },
    });
    const free = await limitsOf(await world.account({ paid: "5", budgets: { total: "9" } }));
    expect([free.binds, free.binds_budget]).toEqual(["balance", null]);
    const endless = await limitsOf(await world.account({ paid: "5", budgets: { total: "3" } }));
    expect(endless.binds_budget).toEqual({ span: "total", left_usd: "3", renews_at: null });
  });

  test("list every tier with the terms that unlock it, and mark the account's own", async () => {
    const { tiers, mail, batch_searches_max } = await limitsOf(await world.account());
    expect(tiers.map(({ name }) => name)).toEqual([
      "free",
      "starter",
      "build",
      "scale",
      "pro",
      "enterprise",
    ]);
    expect(tiers.filter(({ is_current }) => is_current).map(({ name }) => name)).toEqual(["free"]);
    expect(tiers[2]?.unlock).toBe("$50 paid and 7 days since the first payment");
    expect([tiers[0]?.unlock, tiers[5]?.unlock]).toEqual(["sign up", "by contract"]);
    expect([mail, batch_searches_max]).toEqual([null, 0]);
  });

  test("count the mail of an account that may send it", async () => {
    const account = await world.account({ contract: "enterprise", paid: "5", scopes: ["mail"] });
    await world.api.postTo("/v1/mail/send", account, {
      to: ["ada@example.com", "bob@example.com"],
      subject: "Hello",
      text: "Hello",
    });
    expect((await limitsOf(account)).mail).toEqual({
      messages_minute: 1,
      messages_minute_max: 600,
      recipients_day: 2,
      recipients_day_max: 100_000,
      recipients_message_max: 500,
    });
  });

  test("of a plan count all its keys together, and name no cap", async () => {
    const account = await world.account({ surface: "application", plan: "starter", paid: "5" });
    await world.api.postTo("/api/v1/chat/completions", account, chatBody());
    const { tier, month, requests, tiers, open } = await limitsOf(account);
    expect(tier).toEqual({ kind: "plan", name: "starter" });
    expect(month.tier_cap_usd).toBeNull();
    expect(requests).toMatchObject({ per_minute_key: 60, per_minute_account: 30, used_account: 1 });
    expect(open).toMatchObject({ streams_max: 16, calls_max: 16 });
    expect(tiers.map(({ monthly_cap_usd }) => monthly_cap_usd)).toEqual([null, null, null, null]);
  });
});

describe("the account's own cap", () => {
  test("is set to the last nano-dollar, binds the next call, and is taken away", async () => {
    const account = await world.account();
    const { body } = await world.post<CapReply>("owner", capOf(account), {
      own_cap_usd: "0.000000001",
    });
    expect(body).toEqual({ own_cap_usd: "0.000000001", applied: true });
    const refused = await errorOf(await world.api.post(account, chatBody()));
    expect(refused.code).toBe("monthly_limit_reached");
    const { month, binds } = await limitsOf(account);
    expect([month.own_cap_usd, binds]).toEqual(["0.000000001", "own_cap"]);
    await world.post("owner", capOf(account), { own_cap_usd: null });
    expect((await world.api.post(account, chatBody())).status).toBe(200);
  });

  test.each([
    [{}, "own_cap_usd must be USD in a string"],
    [{ own_cap_usd: 40 }, "own_cap_usd must be USD in a string"],
    [{ own_cap_usd: "-1" }, "own_cap_usd must not be negative"],
    [{ own_cap_usd: "0.0000000001" }, "own_cap_usd must be USD in a string"],
    [{ own_cap_usd: "1", cap: "2" }, "cap"],
  ])("%j is refused by name", async (fields, message) => {
    const account = await world.account();
    const told = await world.post("owner", capOf(account), fields);
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(told.message).toStartWith(message);
  });

  test("can only be set by the owner, and a closed account has none", async () => {
    const account = await world.account();
    for (const who of ["viewer", "billing", "admin"] as const) {
      const told = await world.post(who, capOf(account), { own_cap_usd: "1" });
      expect(told.code).toBe("role_required");
    }
    const stranger = await world.post("stranger", capOf(account), { own_cap_usd: "1" });
    expect(stranger.code).toBe("account_not_found");
    const closed = await world.account({ state: "closed" });
    const told = await world.post("owner", capOf(closed), { own_cap_usd: "1" });
    expect(told).toMatchObject({ status: 409, code: "closed" });
  });
});

describe("budgets", () => {
  test("are set by owners for the account, by admins for a key, and count calls", async () => {
    const account = await world.account({ paid: "5" });
    const { id, keyId } = account;
    const ofKey = `/accounts/${id}/keys/${keyId}/budget`;
    const terms = { span: "day", amount_usd: "3" };
    expect((await world.post("admin", ofKey, terms)).body).toEqual({ ...terms, applied: true });
    const total = { span: "total", amount_usd: "0.000001" };
    expect((await world.post("admin", `/accounts/${id}/limits/budget`, total)).status).toBe(403);
    await world.post("owner", `/accounts/${id}/limits/budget`, total);
    expect((await limitsOf(account)).budgets).toMatchObject([
      { key: null, span: "total", amount_usd: "0.000001", spent_usd: "0", renews_at: null },
      { key: keyId, span: "day", amount_usd: "3", left_usd: "3" },
    ]);
    const refused = await errorOf(await world.api.post(account, chatBody()));
    expect(refused.code).toBe("account_budget_exceeded");
    expect(refused.message).toContain(
      "The budget of all time of the account has $0.000001 left, and does not renew",
    );
    await world.post("owner", `/accounts/${id}/limits/budget`, { ...total, amount_usd: null });
    expect((await world.api.post(account, chatBody())).status).toBe(200);
    expect((await limitsOf(account)).budgets).toMatchObject([{ key: keyId }]);
  });

  test("of a key that is not the account's cannot be set", async () => {
    const [mine, other] = [await world.account(), await world.account()];
    const path = `/accounts/${mine.id}/keys/${other.keyId}/budget`;
    const { status } = await world.post("owner", path, { span: "day", amount_usd: "3" });
    expect(status).toBe(404);
  });
});
