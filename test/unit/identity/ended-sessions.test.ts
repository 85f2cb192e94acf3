// Tests that an ended session makes nothing any more, such as a key: not even by a request in
// progress, whose body may arrive slowly.

import { expect, spyOn, test } from "bun:test";
import type { TransactionSql } from "postgres";
import { chatBody } from "../../support/api/api-world.ts";
import { SoftPasskey } from "../../support/fakes/soft-passkey.ts";
import { closedGate } from "../../support/gate.ts";
import { shared } from "../../support/shared.ts";
import { PeopleLab, type Visitor } from "./people-lab.ts";

const lab = await shared(PeopleLab.start());
const { sql } = lab.stores.database;
const url = lab.api.parts.url.replace("127.0.0.1", "localhost");

/** A person who opens the console by its name, in two browsers. */
async function twice(email: string): Promise<readonly [owner: Visitor, thief: Visitor]> {
  const owner = await lab.person(email);
  const thief = lab.visitor(undefined, url);
  await thief.signIn(email);
  return [owner, thief];
}

const ofAccount = (tx: TransactionSql, email: string) => tx`
  SELECT pg_backend_pid() AS pid FROM accounts WHERE email = ${email} FOR UPDATE`;
const ofPerson = (tx: TransactionSql, email: string) => tx`
  SELECT pg_backend_pid() AS pid FROM people WHERE email = ${email} FOR NO KEY UPDATE`;

const ACCOUNTS = "/console/api/accounts";
const PASSKEYS = "/console/api/me/passkeys";

interface Change {
  readonly name: string;
  readonly lock: typeof ofAccount;
  /** The request, which waits for the lock. */
  readonly begin: (thief: Visitor) => Promise<() => ReturnType<Visitor["post"]>>;
}

const CHANGES: readonly Change[] = [
  {
    name: "a key",
    lock: ofAccount,
    async begin(thief) {
      const path = `${ACCOUNTS}/${await thief.firstAccount()}/keys`;
      return () => thief.post(path, { name: "of a thief", scopes: ["models"] });
    },
  },
  {
    name: "an invitation",
    lock: ofAccount,
    async begin(thief) {
      const path = `${ACCOUNTS}/${await thief.firstAccount()}/invitations`;
      return () => thief.post(path, { email: "thief@example.com", role: "owner" });
    },
  },
  {
    name: "an account",
    lock: ofPerson,
    begin: async (thief) => () =>
      thief.post(ACCOUNTS, { surface: "application", name: "of a thief" }),
  },
  {
    name: "a passkey",
    lock: ofPerson,
    async begin(thief) {
      const { body } = await thief.post(`${PASSKEYS}/begin`);
      const response = new SoftPasskey("localhost", url).create(body.options);
      return () => thief.post(PASSKEYS, { name: "of a thief", response });
    },
  },
];

/** A call of the playground with a streamed body, whose end comes on a signal. */
function slowCall(account: string, { cookies, ip }: Visitor) {
  const text = JSON.stringify({ path: "/v1/chat/completions", body: chatBody() });
  const end = closedGate();
  const body = new ReadableStream<string>({
    async start(controller) {
      controller.enqueue(text.slice(0, 9));
      await end.pass();
      controller.enqueue(text.slice(9));
      controller.close();
    },
  });
  const headers = {
    cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    "content-type": "application/json",
    origin: url,
    "x-forwarded-for": ip,
  };
  const path = `${url}${ACCOUNTS}/${account}/playground`;
  return { end, answer: fetch(path, { method: "POST", headers, body }) };
}

test("a call of the playground is not made once its session has ended", async () => {
  const email = "calls@example.com";
  const [owner, thief] = await twice(email);
  const account = await thief.firstAccount();
  const isLetIn = Promise.withResolvers<void>();
  const { identity } = lab;
  const membership = identity.membership.bind(identity);
  using asked = spyOn(identity, "membership").mockImplementation(async (...of) => {
    const found = await membership(...of);
    isLetIn.resolve();
    return found;
  });
  const { end, answer } = slowCall(account, thief);
  await isLetIn.promise;
  expect(asked).toHaveBeenCalledTimes(1);
  expect((await owner.post("/console/api/me/end-other-sessions")).status).toBe(200);
  end.open();
  expect((await answer).status).toBe(401);
  expect(await possessions(email)).toMatchObject({ keys: 0 });
});

/** All rows of a person and their accounts. */
async function possessions(email: string) {
  const [row] = await sql`
    WITH p AS (SELECT id FROM people WHERE email = ${email}),
      a AS (SELECT account FROM memberships WHERE person IN (SELECT id FROM p))
    SELECT (SELECT count(*)::int FROM a) AS accounts,
      (SELECT count(*)::int FROM keys WHERE account IN (SELECT account FROM a)) AS keys,
      (SELECT count(*)::int FROM invitations WHERE account IN (SELECT account FROM a)) AS invited,
      (SELECT count(*)::int FROM passkeys WHERE person IN (SELECT id FROM p)) AS passkeys`;
  return row;
}

for (const { name, lock, begin } of CHANGES) {
  test(`a request in progress of an ended session is not done: ${name}`, async () => {
    const email = `${name.replaceAll(" ", "-")}@example.com`;
    const [owner, thief] = await twice(email);
    const send = await begin(thief);
    const before = await possessions(email);
    const { status, body } = await lab.whileItWaits(
      (tx) => lock(tx, email),
      send,
      async () => {
        expect((await owner.post("/console/api/me/end-other-sessions")).status).toBe(200);
      },
    );
    expect([status, body.error?.code]).toEqual([401, "not_signed_in"]);
    expect(await possessions(email)).toEqual(before);
  });
}
