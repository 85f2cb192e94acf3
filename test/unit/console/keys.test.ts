import { describe, expect, test } from "bun:test";
import type { ChangedKeyReply, CreatedKeyReply } from "../../../src/console/keys.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { ConsoleWorld, servicesOf } from "../../support/api/console-world.ts";
import { eventually } from "../../support/eventually.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());

const BODY = { name: "production", scopes: ["models"] };

function keysOf({ id }: { readonly id: string }): string {
  return `/accounts/${id}/keys`;
}

describe("the list of keys", () => {
  test("shows the spending of a key, to the last nano-dollar, and never the key", async () => {
    const account = await world.account({ monthlyLimit: "3.5" });
    await world.api.post(account, chatBody());
    const { body, status } = await world.get<KeysReply>("viewer", keysOf(account));
    expect(status).toBe(200);
    expect(body.prefix).toBe("svc_live_");
    const { monthSpent } = (await world.api.view(account)).key;
    expect(monthSpent).toBeGreaterThan(0n);
    expect(body.keys).toHaveLength(1);
    expect(body.keys[0]).toMatchObject({
      id: account.keyId,
      monthly_limit_usd: "3.5",
      month_spent_usd: (Number(monthSpent) / 1e9).toFixed(9).replace(/0+$/, ""),
      revoked_at: null,
    });
    expect(JSON.stringify(body)).not.toContain(account.key);
    expect(body.scopes.map(({ scope, in_tier }) => [scope, in_tier])).toEqual([
      ["models", true],
      ["search", false],
      ["maps", false],
      ["mail", false],
    ]);
  });

  test("names the one scope of an application account", async () => {
    const account = await world.account({ surface: "application" });
    const { body } = await world.get<KeysReply>("viewer", keysOf(account));
    expect(body.prefix).toBe("svc_sk_");
    expect(body.scopes).toEqual([{ scope: "models", title: "Models API", in_tier: true }]);
  });
});

describe("a new key", () => {
  test("is refused beyond a thousand, also in parallel; revoked keys make room", async () => {
    const account = await world.account();
    const { number } = account.row;
    await world.api.parts.stores.database.sql`
      INSERT INTO keys (id, account, digest, name, scopes, ip_allowlist, last_four)
      SELECT 'key_many' || n, ${number}, 'many' || n, 'many', '{models}', '{}', 'many'
      FROM generate_series(1, 998) n`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => world.post("admin", keysOf(account), BODY)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ error: { code: "wrong_state" } });
    await world.post("admin", `${keysOf(account)}/key_many1/revoke`, {});
    expect((await world.post("admin", keysOf(account), BODY)).status).toBe(200);
  });

  test("is refused if the keys of an account would have more than 5,000 addresses", async () => {
    const account = await world.account();
    const { number } = account.row;
    await world.api.parts.stores.database.sql`
      INSERT INTO keys (id, account, digest, name, scopes, ip_allowlist, last_four)
      SELECT 'key_listed' || n, ${number}, 'listed' || n, 'listed', '{models}',
        array_fill('10.0.0.1'::text, ARRAY[100]), 'many'
      FROM generate_series(1, 50) n`;
    const listed = { ...BODY, ip_allowlist: ["10.0.0.2"] };
    const refused = await world.post("admin", keysOf(account), listed);
    expect(refused).toMatchObject({ status: 409, code: "wrong_state" });
    expect(refused.message).toContain("5000 addresses");
    expect((await world.post("admin", keysOf(account), BODY)).status).toBe(200);
    await world.post("admin", `${keysOf(account)}/key_listed1/revoke`, {});
    expect((await world.post("admin", keysOf(account), listed)).status).toBe(200);
  });

  test("works at once, within its scopes, addresses and budget", async () => {
    const account = await world.account({ paid: "5" });
    const fields = {
      ...BODY,
      scopes: ["models", "MODELS"],
      ip_allowlist: ["127.0.0.0/8", "::1"],
      monthly_limit_usd: "0.000000001",
    };
    const { body, status } = await world.post<CreatedKeyReply>("admin", keysOf(account), fields);
    expect(status).toBe(200);
    expect(body.applied).toBeTrue();
    expect(body.created).toMatchObject({
      name: "production",
      scopes: ["models"],
      last_four: body.key.slice(-4),
      ip_allowlist: ["127.0.0.0/8", "::1"],
      monthly_limit_usd: "0.000000001",
    });
    const refused = await world.api.post({ key: body.key }, chatBody());
    expect((await errorOf(refused)).code).toBe("key_budget_exceeded");
  });

  test.each([
    [{ scopes: [] }, "scopes must be a list of at least one scope"],
    [{ scopes: ["chat"] }, "scopes must contain only models, search, maps, mail, but has 'chat'"],
    [{ name: " " }, "name must have 1 to 64 characters and no control characters"],
    [{ name: "a\nb" }, "name must have 1 to 64 characters and no control characters"],
    [{ ip_allowlist: ["10.0.0.0/33"] }, "ip_allowlist: '10.0.0.0/33' is neither an IP address"],
    [{ monthly_limit_usd: "many" }, "monthly_limit_usd must be USD in a string"],
    [{ monthly_limit_usd: 5 }, "monthly_limit_usd must be USD in a string"],
    [{ monthly_limit_usd: "-1" }, "monthly_limit_usd must not be negative, but is '-1'"],
    [{ monthly_limit_usd: "99999999999" }, "monthly_limit_usd: '99999999999' is beyond"],
    [{ budget: "5" }, "budget is not known"],
  ])("with %j is refused by name, and nothing is made", async (wrong, message) => {
    const account = await world.account();
    const told = await world.post("owner", keysOf(account), { ...BODY, ...wrong });
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(told.message).toStartWith(message);
    const { body } = await world.get<KeysReply>("owner", keysOf(account));
    expect(body.keys).toHaveLength(1);
  });

  test("of an application account has the permission Models API alone", async () => {
    const account = await world.account({ surface: "application" });
    const wrong = await world.post("admin", keysOf(account), { ...BODY, scopes: ["search"] });
    expect(wrong).toMatchObject({ status: 400, code: "wrong_scope" });
    const { body } = await world.post<CreatedKeyReply>("admin", keysOf(account), BODY);
    expect(body.key).toStartWith("svc_sk_");
  });

  test("of a closed account is refused", async () => {
    const account = await world.account({ state: "closed" });
    const told = await world.post("owner", keysOf(account), BODY);
    expect(told).toMatchObject({ status: 409, code: "closed" });
  });
});

describe("while Redis is away", () => {
  test("a new key is shown, and a key is revoked and renamed", async () => {
    const fail = () => Promise.reject(new Error("Redis is away"));
    const actors = { of: () => ({ configure: fail, applyOperations: fail, use: fail }) };
    await using alone = await ConsoleWorld.start((stores) => {
      const { administration } = servicesOf(stores);
      return { services: { administration: { ...administration, actors }, wallets: actors } };
    });
    const account = await alone.account();
    const made = await alone.post<CreatedKeyReply>("admin", keysOf(account), BODY);
    expect(made).toMatchObject({ status: 200, body: { applied: false } });
    expect(made.body.key).toStartWith("svc_live_");
    const path = `${keysOf(account)}/${made.body.created.id}`;
    const named = await alone.post<ChangedKeyReply>("admin", `${path}/rename`, { name: "new" });
    expect(named).toMatchObject({ status: 200, body: { applied: false, key: { name: "new" } } });
    const gone = await alone.post<ChangedKeyReply>("admin", `${path}/revoke`);
    expect(gone).toMatchObject({ status: 200, body: { applied: false } });
    expect(gone.body.key.revoked_at).not.toBeNull();
  });
});

describe("a key that is revoked", () => {
  test("is refused at the very next call", async () => {
    const account = await world.account();
    expect((await world.api.post(account, chatBody())).status).toBe(200);
    const path = `${keysOf(account)}/${account.keyId}/revoke`;
    const { body, status } = await world.post<ChangedKeyReply>("admin", path);
    expect(status).toBe(200);
    expect(body.key.revoked_at).not.toBeNull();
    const refused = await world.api.post(account, chatBody());
    expect((await errorOf(refused)).code).toBe("invalid_api_key");
    const again = await world.post<ChangedKeyReply>("admin", path);
    expect(again.body.key.revoked_at).toBe(body.key.revoked_at);
  });

  test("is revoked once: a repeat changes nothing and is not in the activity", async () => {
    const account = await world.account();
    const { sql } = world.api.parts.stores.database;
    const state = async () =>
      await sql`
        SELECT version::text, (SELECT count(*)::int FROM activity l WHERE l.account = a.number)
          AS lines FROM accounts a WHERE a.number = ${account.row.number}`;
    const path = `${keysOf(account)}/${account.keyId}/revoke`;
    await world.post("admin", path);
    const first = await state();
    await world.post("admin", path);
    expect(await state()).toEqual(first);
  });

  test("of another account gets the error of an unknown key, and stays valid", async () => {
    const [mine, other] = [await world.account(), await world.api.account()];
    const told = await world.post("owner", `${keysOf(mine)}/${other.keyId}/revoke`);
    const missing = await world.post("owner", `${keysOf(mine)}/key_0/revoke`);
    expect(told).toMatchObject({ status: 404, code: "not_found" });
    expect(missing.message).toBe(told.message?.replace(other.keyId, "key_0"));
    expect((await world.api.post(other, chatBody())).status).toBe(200);
  });
});

test("a revoked key keeps its name: a new name is refused", async () => {
  const account = await world.account();
  const path = `${keysOf(account)}/${account.keyId}`;
  await world.post("admin", `${path}/revoke`);
  const told = await world.post("admin", `${path}/rename`, { name: "late" });
  expect(told).toMatchObject({ status: 409, code: "wrong_state" });
  expect(told.message).toBe(`The key ${account.keyId} is revoked and cannot be changed`);
});

test("a key is given another name", async () => {
  const account = await world.account();
  const path = `${keysOf(account)}/${account.keyId}/rename`;
  const { body } = await world.post<ChangedKeyReply>("admin", path, { name: " laptop " });
  expect(body.key.name).toBe("laptop");
  await eventually("the name is in force", async () => {
    return (await world.api.view(account)).key.name === "laptop";
  });
  const wrong = await world.post("admin", path, { name: "" });
  expect(wrong.message).toStartWith("name must");
});

describe("the limits of a key", () => {
  const limitsOf = (account: TestAccount) => `${keysOf(account)}/${account.keyId}/limits`;

  test("change without a new key, each by itself, and are in the list", async () => {
    const account = await world.account();
    const set = async (body: object) => {
      const told = await world.post<ChangedKeyReply>("admin", limitsOf(account), body);
      expect(told).toMatchObject({ status: 200, body: { applied: true } });
      return told.body.key;
    };
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect(await set({ models: ["other-*", "other-*"] })).toMatchObject({ models: ["other-*"] });
    expect((await errorOf(await world.api.post(account, chatBody()))).code).toBe(
      "model_not_allowed",
    );
    expect(await set({ ends_at: later })).toMatchObject({ models: ["other-*"], ends_at: later });
    const disabled = await set({ disabled: true, models: null });
    expect(disabled).toMatchObject({ models: null, ends_at: later });
    expect((await errorOf(await world.api.post(account, chatBody()))).message).toBe(
      "This API key is disabled",
    );
    // Disabling the key again does not change the time of the first disabling.
    expect(await set({ disabled: true })).toMatchObject({ disabled_at: disabled.disabled_at });
    expect(await set({ disabled: false, ends_at: null })).toMatchObject({
      disabled_at: null,
      ends_at: null,
    });
    expect((await world.api.post(account, chatBody())).status).toBe(200);
    const { body } = await world.get<KeysReply>("viewer", keysOf(account));
    expect(body.keys[0]).toMatchObject({ models: null, ends_at: null, disabled_at: null });
  });

  test("are in the activity, with the name of the key and the changed fields", async () => {
    const account = await world.account();
    await world.post("admin", limitsOf(account), { disabled: true, models: ["swift-*"] });
    const { sql } = world.api.parts.stores.database;
    const lines = await sql`
      SELECT actor, action, about FROM activity WHERE account = ${account.row.number}`;
    expect([...lines]).toEqual([
      {
        actor: "admin@example.com",
        action: "key_limited",
        about: "test key: disabled; models swift-*",
      },
    ]);
  });

  test.each([
    [{}, "must change something"],
    [{ disabled: "yes" }, "disabled must"],
    [{ models: [] }, "models must be a list of 1 to 50 models"],
    [{ models: ["a b"] }, "models must contain only ids of models, in which * stands"],
    [{ models: "swift-1" }, "models must be a list of 1 to 50 models"],
    [{ ends_at: "2001-01-01T00:00:00Z" }, "ends_at must be in the future, but is 2001-01-01"],
    [{ ends_at: "2031-13-01T00:00:00Z" }, "ends_at must be a time such as"],
    [{ ends_at: "2031-02-30T00:00:00Z" }, "ends_at must be a time such as 2026-11-21T00:00:00Z"],
    [{ ends_at: "2031-03-01T24:00:00Z" }, "ends_at must be a time such as 2026-11-21T00:00:00Z"],
    [{ ends_at: "9031-02-03T00:00:00Z" }, "ends_at must be in a year from 2000 to 2999"],
    [{ ends_at: "tomorrow" }, "ends_at"],
    [{ scopes: ["search"] }, "scopes is not known"],
  ])("%j is refused in words, and changes nothing", async (wrong, message) => {
    const account = await world.account({ models: ["kept"] });
    const told = await world.post("owner", limitsOf(account), wrong);
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(told.message).toContain(message);
    const { body } = await world.get<KeysReply>("owner", keysOf(account));
    expect(body.keys[0]).toMatchObject({ models: ["kept"], ends_at: null, disabled_at: null });
  });

  test("of a new key are those of its body", async () => {
    const account = await world.account();
    const limits = { models: ["swift-*"], ends_at: "2031-12-31T00:00:00.000Z" };
    const made = await world.post<CreatedKeyReply>("admin", keysOf(account), {
      ...BODY,
      ...limits,
    });
    expect(made.body.created).toMatchObject(limits);
    const refused = await errorOf(await world.api.post({ key: made.body.key }, chatBody()));
    expect(refused.code).toBe("model_not_allowed");
    const past = { ...BODY, ends_at: "2021-12-31T00:00:00.000Z" };
    expect((await world.post("admin", keysOf(account), past)).message).toStartWith(
      "ends_at must be",
    );
  });

  test("of a revoked key, or one of another account, cannot be changed", async () => {
    const [mine, other] = [await world.account(), await world.account()];
    const path = `${keysOf(mine)}/${other.keyId}/limits`;
    expect(await world.post("owner", path, { disabled: true })).toMatchObject({ status: 404 });
    await world.post("admin", `${keysOf(mine)}/${mine.keyId}/revoke`);
    const told = await world.post("owner", limitsOf(mine), { disabled: false });
    expect(told).toMatchObject({ status: 409, code: "wrong_state" });
    expect((await world.api.post(other, chatBody())).status).toBe(200);
  });

  test("are refused beyond 5,000 patterns of an account", async () => {
    const account = await world.account();
    await world.api.parts.stores.database.sql`
      INSERT INTO keys (id, account, digest, name, scopes, ip_allowlist, last_four, models)
      SELECT 'key_patterns' || n, ${account.row.number}, 'patterns' || n, 'many', '{models}', '{}',
        'many', array_fill('m'::text, ARRAY[50])
      FROM generate_series(1, 100) n`;
    const told = await world.post("admin", limitsOf(account), { models: ["m"] });
    expect(told).toMatchObject({ status: 409, code: "wrong_state" });
    expect(told.message).toContain("5000 patterns of models; with these they would have 5001");
    await world.post("admin", `${keysOf(account)}/key_patterns1/revoke`);
    expect((await world.post("admin", limitsOf(account), { models: ["m"] })).status).toBe(200);
  });
});

test.each(["viewer", "billing"] as const)("a %s reads keys and changes none", async (who) => {
  const account = await world.account();
  const path = `${keysOf(account)}/${account.keyId}`;
  expect((await world.get(who, keysOf(account))).status).toBe(200);
  for (const [target, body] of [
    [keysOf(account), BODY],
    [`${path}/revoke`, {}],
    [`${path}/rename`, { name: "mine" }],
    [`${path}/limits`, { disabled: true }],
  ] as const) {
    expect(await world.post(who, target, body)).toMatchObject({ code: "role_required" });
  }
  expect((await world.api.post(account, chatBody())).status).toBe(200);
});

test("a stranger gets the error of an unknown account", async () => {
  const account = await world.account();
  const told = await world.post("stranger", keysOf(account), BODY);
  expect(told).toMatchObject({ status: 404, code: "account_not_found" });
});
