// Tests changes of one person at the same moment, whose transactions lock the same rows in a
// different order. Postgres ends one of two that wait for each other: it is repeated after the
// other.

import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab, tokenOf, type Visitor } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());
const { sql } = lab.stores.database;

type Answer = Awaited<ReturnType<Visitor["auth"]>>;

/** A person who is signed in twice, and a mailed link to set a new password. */
async function somebody(email: string) {
  const person = await lab.person(email);
  await lab.visitor().signIn(email);
  const token = tokenOf(await lab.visitor().auth("/request-password-reset", { email }));
  const newPassword = "set by a mailed link";
  return { person, reset: () => lab.visitor().auth("/reset-password", { token, newPassword }) };
}

async function waiting(count: number): Promise<void> {
  await eventually(`${count} changes wait`, async () => {
    const [row] = await sql`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`;
    return row?.count === count;
  });
}

/** Begins a second change once the first one waits for a row, so that each waits for the other. */
async function atOnce(
  lock: Parameters<PeopleLab["whileItWaits"]>[0],
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<Answer[]> {
  const begun: Promise<Answer>[] = [];
  const answer = await lab.whileItWaits(lock, first, async () => {
    begun.push(second());
    await waiting(2);
  });
  return [answer, ...(await Promise.all(begun))];
}

test("of a change and a reset of a password at the same time, one ends the other", async () => {
  const email = "both@example.com";
  const { person, reset } = await somebody(email);
  const passwords = { currentPassword: PASSWORD, newPassword: "changed by its owner" };
  const answers = await atOnce(
    (tx) => tx`
      SELECT pg_backend_pid() AS pid FROM person_credentials c
      JOIN people p ON p.id = c.person WHERE p.email = ${email} FOR SHARE OF c`,
    () => person.auth("/change-password", passwords),
    reset,
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  const [changed] = answers;
  const stored = changed?.status === 200 ? passwords.newPassword : "set by a mailed link";
  expect((await lab.visitor().signIn(email, stored)).status).toBe(200);
});

test("sessions can be ended while a mailed link sets a password", async () => {
  const email = "both-too@example.com";
  const { person, reset } = await somebody(email);
  const answers = await atOnce(
    (tx) => tx`
      SELECT pg_backend_pid() AS pid FROM sessions s JOIN people p ON p.id = s.person
      WHERE p.email = ${email} ORDER BY s.created_at LIMIT 1 FOR UPDATE OF s`,
    reset,
    () => person.post("/console/api/me/end-other-sessions"),
  );
  const [set, ended] = answers.map(({ status }) => status);
  expect(ended).toBe(200);
  expect([200, 400]).toContain(set ?? 0);
});
