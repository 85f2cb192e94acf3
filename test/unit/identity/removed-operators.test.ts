// Tests that a person who is no longer an operator, or is signed out, changes nothing any more: not
// even by a request in progress.

import { expect, test } from "bun:test";
import type { TransactionSql } from "postgres";
import { setOperator } from "../../../src/store/people/known-people.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { shared } from "../../support/shared.ts";
import { PeopleLab } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());
const { database } = lab.stores;
const account = await lab.api.account({ paid: "5" });

async function operator(email: string) {
  const visitor = await lab.operator(email);
  await visitor.turnOnSecondFactor();
  return visitor;
}

const remove = async (email: string): Promise<void> => {
  await setOperator(database, email, false);
};

const signOut = async (email: string): Promise<void> => {
  const people = new PeopleStore(database);
  const person = await people.findByEmail(email);
  await people.endOtherSessions(person?.id ?? "", "");
};

const PATH = `/console/operator/accounts/${account.id}`;
const ask = () => ({ id: crypto.randomUUID(), reason: "a test" });

const CREDIT = {
  path: `${PATH}/credit`,
  body: { amount_usd: "25" },
  lock: (tx: TransactionSql) => tx`
    SELECT pg_backend_pid() AS pid FROM accounts WHERE id = ${account.id} FOR UPDATE`,
};
/** A change that is made outside of a transaction. */
const PAUSE = {
  path: "/console/operator/pauses/pause",
  body: { target: "chat" },
  async lock(tx: TransactionSql) {
    await tx`LOCK TABLE operator_actions IN SHARE MODE`;
    return await tx`SELECT pg_backend_pid() AS pid`;
  },
};

test.each([
  ["a credit, by who was removed", CREDIT, remove],
  ["a credit, by who was signed out", CREDIT, signOut],
  ["a pause, by who was removed", PAUSE, remove],
  ["a pause, by who was signed out", PAUSE, signOut],
] as const)("what waited is not done: %s", async (name, { path, body, lock }, end) => {
  const email = `${name.replaceAll(/[^a-z]+/g, "-")}@example.com`;
  const visitor = await operator(email);
  const order = { ...ask(), ...body };
  const answer = await lab.whileItWaits(
    lock,
    () => visitor.post(path, order),
    () => end(email),
  );
  expect([answer.status, answer.body.error?.code]).toEqual([403, "role_required"]);
  const { sql } = database;
  expect([...(await sql`SELECT 1 FROM operator_actions WHERE id = ${order.id}`)]).toEqual([]);
  expect([...(await sql`SELECT 1 FROM pauses`)]).toEqual([]);
  const payments = await sql`SELECT amount FROM payments ORDER BY number`;
  expect(payments.map(({ amount }) => amount)).toEqual([5_000_000_000n]);
});
