// Tests that the command line reads the data of the operators' console.

import { expect, test } from "bun:test";
import { safetyIdSecretsOf } from "../../../src/core/access/safety-ids.ts";
import { CallerIdentifiers } from "../../../src/services/chat/protocols/caller-identifiers.ts";
import { recordAction } from "../../../src/store/operators/operator-actions.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import {
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  WORLD_PEPPER,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

test("an account is found by its id, and its balance is that of the ledger", async () => {
  const account = await openAccount(world, { paid: "20" });
  const { row } = account;
  const open = await hold(account, usd("1"));
  await open.settle(usd("0.25"), DONE);
  await world.flush();
  const found = jsonOf(await cli("account", "find", row.id, "--json"));
  expect(found).toMatchObject({
    accounts: [{ id: row.id, paid_usd: "20", free_usd: "4.75" }],
    next: null,
  });
  expect((await cli("account", "find", row.id)).out).toContain("paid $20");
  const wrong = await cli("account", "find", "--before", "yesterday");
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("before")]);
});

/** The identifier that this provider gets of an account's person. */
function identifierAt(preset: string, secret: string, account: string): string {
  const provider = { preset, fields: ["safety_identifier"] } as const;
  const { sent } = new CallerIdentifiers(secret).of(provider, account, { user: "ada" });
  return sent.safety_identifier ?? "";
}

test("the account of a provider's identifier is found, also by an earlier secret", async () => {
  const { row } = await openAccount(world, { paid: "20" });
  await openAccount(world, { paid: "20" });
  const [derived] = safetyIdSecretsOf(null, [WORLD_PEPPER]);
  const ofPepper = identifierAt("openai", derived, row.id);
  const find = (id: string, by = cli) => by("account", "find", "--safety-id", id, "--json");
  expect(jsonOf(await find(ofPepper))).toMatchObject({
    accounts: [{ id: row.id }],
    provider: "openai",
    earlier_secret: false,
  });
  // A secret of its own comes first; identifiers from before the setting are found all the same.
  const [current, earlier] = ["the current secret", "an earlier secret"];
  const own = await cliOf(world, { SAFETY_ID_SECRET: `${current},${earlier}` });
  for (const [secret, isEarlier] of [
    [current, false],
    [earlier, true],
    [derived, true],
  ] as const) {
    const found = jsonOf(await find(identifierAt("anthropic", secret, row.id), own));
    expect(found).toMatchObject({ accounts: [{ id: row.id }], earlier_secret: isEarlier });
  }
  const unknown = await find(identifierAt("anthropic", current, row.id));
  expect([unknown.code, JSON.parse(unknown.out)]).toEqual([1, { accounts: [], provider: null }]);
  expect((await find("ada@example.com")).code).toBe(2);
});

test("accounts whose content providers refused are listed, those with the most first", async () => {
  const REFUSED = { ...DONE, usageDetails: { isContentRefused: true } } as const;
  const [loud, quiet, other] = [
    await openAccount(world, { paid: "20" }),
    await openAccount(world, { paid: "20" }),
    await openAccount(world, { paid: "20" }),
  ];
  const call = async (account: typeof loud, outcome: typeof DONE) =>
    await (await hold(account, usd("1"))).settle(usd("0.25"), outcome);
  for (const account of [loud, quiet, loud]) await call(account, REFUSED);
  await call(other, DONE);
  await world.flush();
  const { accounts } = jsonOf(await cli("refusal", "list", "--json"));
  expect(accounts).toMatchObject([
    { account: loud.row.id, refusals: 2, state: "active" },
    { account: quiet.row.id, refusals: 1, state: "active" },
  ]);
  const { out } = await cli("refusal", "list");
  expect(out).toContain("2 refused");
  expect(out).not.toContain(other.row.id);
});

test("the trail names the operator, the change and the reason", async () => {
  const { row } = await openAccount(world, { paid: "20" });
  const action = {
    id: "op_of_the_test",
    action: "credit",
    account: row.number,
    subject: null,
    about: "$5 credited as a payment",
    reason: "Ticket 4711",
  };
  const actor = { name: "ops@example.com", personId: "person_1", country: null, ipHash: null };
  const done = { actor, now: new Date(), confirm: async () => {}, outcome: "done" } as const;
  await recordAction(world.database, action, done);
  const { out } = await cli("operator", "trail", "--account", row.id);
  expect(out).toMatch(/ops@example\.com .*\$5 credited as a payment .*Ticket 4711 .*done/);
  const other = await cli("operator", "trail", "--account", "acct_7n42DGM5Tflk9n8mt7Fhc7");
  expect(other.out).toContain("There is nothing.");
});

test("a mail that failed is sent again by its id, which the list names", async () => {
  const { row: account } = await openAccount(world, { paid: "20" });
  const { sql } = world.database;
  const [mail] = await sql`
    INSERT INTO outbox (kind, account, recipient, subject, text, html, status, created_at, ended_at)
    VALUES ('receipt', ${account.number}, 'ada@example.com', 's', 't', 'h', 'failed', now(), now())
    RETURNING id`;
  const id = String(mail?.id);
  expect((await cli("outbox", "list", "--status", "failed")).out).toContain(id);
  const sent = await cli("outbox", "resend", id);
  expect([sent.code, sent.out]).toEqual([0, expect.stringContaining("sent again")]);
  const [now] = await sql`SELECT status FROM outbox WHERE id = ${id}`;
  expect(now?.status).toBe("waiting");
  const lines = await sql`SELECT actor FROM activity WHERE action = 'operator_resend_mail'`;
  expect(lines.map(({ actor }) => actor)).toEqual(["operator"]);
  const again = await cli("outbox", "resend", id);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("cannot be sent again")]);
  expect((await cli("outbox", "resend", "none")).code).toBe(1);
  await sql`DELETE FROM outbox`;
});

test("mails, events and disputes that wait are listed", async () => {
  for (const list of ["outbox", "event", "dispute"]) {
    const { code, out } = await cli(list, "list", "--json");
    expect([list, code, JSON.parse(out).next]).toEqual([list, 0, null]);
  }
});
