import { describe, expect, test } from "bun:test";
import type {
  ChangedEndUserReply,
  EndUserReply,
  EndUsersReply,
} from "../../../src/console/end-users.ts";
import { END_USER_CHARACTERS_MAX } from "../../../src/core/access/end-users.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());

const ID = "customer-4711";
const LITTLE = "0.000000001";

const at = ({ id }: TestAccount, rest = "") => `/accounts/${id}/end-users${rest}`;
const set = (account: TestAccount, fields: object) =>
  world.post<ChangedEndUserReply>("owner", at(account, "/budget"), fields);
const show = async (account: TestAccount, id = ID) =>
  (await world.post<EndUserReply>("viewer", at(account, "/show"), { end_user: id })).body.budgets;
const list = async (account: TestAccount) =>
  (await world.get<EndUsersReply>("viewer", at(account))).body;
const codeOf = async (account: TestAccount, user?: string) => {
  const reply = await world.api.post(account, chatBody({ user }));
  return reply.status === 200 ? "answered" : (await errorOf(reply)).code;
};

describe("budgets of end users", () => {
  test("are set for each one and for a single one, count, and go away", async () => {
    const account = await world.account({ paid: "5" });
    expect(await list(account)).toEqual({ budgets: [], named: 0 });
    const { body } = await set(account, { span: "month", amount_usd: LITTLE });
    expect(body).toEqual({ span: "month", amount_usd: LITTLE, applied: true });
    expect(await codeOf(account, ID)).toBe("end_user_budget_exceeded");
    expect(await codeOf(account)).toBe("answered");
    await set(account, { end_user: ID, span: "month", amount_usd: "2.5" });
    expect(await codeOf(account, ID)).toBe("answered");
    expect(await codeOf(account, "somebody")).toBe("end_user_budget_exceeded");
    expect(await list(account)).toEqual({
      budgets: [{ key: null, span: "month", amount_usd: LITTLE }],
      named: 1,
    });
    const [own] = await show(account);
    expect(own).toMatchObject({ is_own: true, span: "month", amount_usd: "2.5", held_usd: "0" });
    expect(Number(own?.spent_usd)).toBeGreaterThan(0);
    expect(await show(account, "somebody")).toMatchObject([{ is_own: false, spent_usd: "0" }]);
    await set(account, { end_user: ID, span: "month", amount_usd: null });
    await set(account, { span: "month", amount_usd: null });
    expect(await list(account)).toEqual({ budgets: [], named: 0 });
    expect(await codeOf(account, ID)).toBe("answered");
  });

  test("of one key count its calls alone", async () => {
    const account = await world.account({ paid: "5" });
    await set(account, { key: account.keyId, span: "day", amount_usd: LITTLE });
    expect(await codeOf(account, ID)).toBe("end_user_budget_exceeded");
    expect((await list(account)).budgets).toMatchObject([{ key: account.keyId }]);
  });

  test("are noted in the activity without the id", async () => {
    const account = await world.account({ paid: "5" });
    await set(account, { end_user: ID, span: "5h", amount_usd: "2" });
    const { sql } = world.api.parts.stores.database;
    const rows = await sql`SELECT about FROM activity WHERE account = ${account.row.number}`;
    expect(rows.map(({ about }) => about)).toEqual([
      "budget of five hours of the end user, for one end user: $2",
    ]);
  });

  test.each([
    [{ span: "day", amount_usd: "2", end_user: "" }, "end_user"],
    [
      { span: "day", amount_usd: "2", end_user: "x".repeat(END_USER_CHARACTERS_MAX + 1) },
      "end_user",
    ],
    [{ span: "year", amount_usd: "2" }, "span"],
    [{ span: "day", amount_usd: "-2" }, "amount_usd"],
    [{ span: "day", amount_usd: "2", user: ID }, "user"],
  ])("refuse %j and name %s", async (fields, name) => {
    const account = await world.account({ paid: "5" });
    const { status, body } = await set(account, fields);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(name);
    expect(await list(account)).toEqual({ budgets: [], named: 0 });
  });

  test("refuse a key of another account, and a key for a single end user", async () => {
    const [mine, theirs] = [await world.account({ paid: "5" }), await world.account({ paid: "5" })];
    const fields = { span: "day", amount_usd: "2" };
    expect((await set(mine, { ...fields, key: theirs.keyId })).status).toBe(404);
    const both = await set(mine, { ...fields, key: mine.keyId, end_user: ID });
    expect(both.status).toBe(409);
    expect(await list(mine)).toEqual({ budgets: [], named: 0 });
  });
});
