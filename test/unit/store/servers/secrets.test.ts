// Tests the secrets that Postgres was used with, and keys that move from one pepper to the next.

import { describe, expect, test } from "bun:test";
import { keyDigest, keyDigests } from "../../../../src/core/access/keys.ts";
import { type SecretList, secretId } from "../../../../src/core/secrets.ts";
import { Accounts } from "../../../../src/store/accounts/accounts.ts";
import { KeyDirectory } from "../../../../src/store/accounts/key-directory.ts";
import { IdempotencyKeys } from "../../../../src/store/mail/idempotency-keys.ts";
import {
  adoptSecret,
  adoptSecrets,
  compareSecrets,
} from "../../../../src/store/servers/secrets.ts";
import { eventually } from "../../../support/eventually.ts";
import { random } from "../../../support/random.ts";
import { databaseOfEachTest } from "../../../support/stores/test-database.ts";

const [OLD, NEW, OTHER] = ["the old secret of ours", "the new secret of ours", "one of another"];
const turn = async () => true;

const own = databaseOfEachTest();

const secrets = (pepper: SecretList, ipHash: SecretList = [OLD]) => ({
  KEY_PEPPER: pepper,
  IP_HASH_SECRET: ipHash,
});
const adopt = (...lists: Parameters<typeof secrets>) =>
  adoptSecrets(own.database, secrets(...lists));
const compare = (...lists: Parameters<typeof secrets>) =>
  compareSecrets(own.database, secrets(...lists));

/** A key of a new account, made with a pepper. */
async function makeKey(pepper: string): Promise<{ id: string; secret: string }> {
  const accounts = new Accounts({ ...own, random, keyPepper: pepper });
  const { id } = await accounts.create({ surface: "gateway", email: null }, new Date());
  const account = await accounts.find(id);
  if (account === null) throw new Error("The account is gone");
  const terms = { name: "test", scopes: ["models"], ipAllowlist: [], monthlyLimit: null } as const;
  return await accounts.createKey(account, terms);
}

async function storedKey(id: string): Promise<{ digest: string; pepper: string | null }> {
  const [row] = await own.database.sql`SELECT digest, pepper FROM keys WHERE id = ${id}`;
  return { digest: String(row?.digest), pepper: row?.pepper ?? null };
}

test("consoles have one secret of sessions, which is replaced in two steps", async () => {
  const adoptSession = (...list: SecretList) => adoptSecret(own.database, "SESSION_SECRET", list);
  await adoptSession(OLD);
  await expect(adoptSession(OTHER)).rejects.toThrow("SESSION_SECRET is not the secret");
  await adoptSession(NEW, OLD);
  await expect(adoptSession(OLD)).rejects.toThrow("SESSION_SECRET is not the secret");
  await adoptSession(NEW);
  // A process without a console has no such secret, and needs none.
  await adopt([OLD]);
});

describe("a serving process", () => {
  test("with a secret other than the stored one is refused by the variable's name", async () => {
    await adopt([OLD]);
    await expect(adopt([OTHER])).rejects.toThrow("KEY_PEPPER is not the secret");
    await expect(adopt([OLD], [OTHER])).rejects.toThrow("IP_HASH_SECRET is not the secret");
    await adopt([OLD]);
  });

  test("changes a secret by naming the new one before the old one, and back again", async () => {
    await adopt([OLD]);
    await adopt([NEW, OLD], [NEW, OLD]);
    await adopt([NEW], [NEW]);
    await expect(adopt([OLD], [NEW])).rejects.toThrow("KEY_PEPPER is not");
    await adopt([OLD, NEW], [NEW]);
    await adopt([OLD], [NEW]);
  });

  test("is refused without the pepper of a live key, and learns which key", async () => {
    await adopt([OLD]);
    const key = await makeKey(OLD);
    await adopt([NEW, OLD]);
    await expect(adopt([NEW])).rejects.toThrow(
      `secret of 1 API keys that are not revoked (${key.id})`,
    );
    await new Accounts({ ...own, random, keyPepper: NEW }).revokeKey(key.id, new Date());
    await adopt([NEW]);
  });

  test("takes keys of a release without named peppers for keys of the old secret", async () => {
    const key = await makeKey(OLD);
    await own.database.sql`UPDATE keys SET pepper = NULL`;
    await expect(adopt([NEW, OLD])).rejects.toThrow("Start once with only that secret");
    expect((await storedKey(key.id)).pepper).toBeNull();
    await adopt([OLD]);
    expect((await storedKey(key.id)).pepper).toBe(secretId("KEY_PEPPER", OLD));
  });

  test("of many that start at once with two lists never stores a third secret", async () => {
    await adopt([OLD]);
    const starts = Array.from({ length: 10 }, (_, n) =>
      adopt(n % 2 === 0 ? [NEW, OLD] : [OLD, NEW]),
    );
    await Promise.all(starts);
    const rows = await own.database.sql`SELECT fingerprint FROM secrets WHERE name = 'KEY_PEPPER'`;
    const ids = [OLD, NEW].map((secret) => secretId("KEY_PEPPER", secret));
    expect(ids).toContain(String(rows[0]?.fingerprint));
  });
});

describe("a tool", () => {
  test("is refused with another secret, and stores no secret itself", async () => {
    await compare([OLD]);
    expect(await own.database.sql`SELECT FROM secrets`).toHaveLength(0);
    await adopt([OLD]);
    await compare([OLD]);
    await expect(compare([OTHER])).rejects.toThrow("KEY_PEPPER is not the secret");
  });

  test("must not make keys with a pepper that the servers do not use yet", async () => {
    await adopt([OLD]);
    await expect(compare([NEW, OLD])).rejects.toThrow("first secret in KEY_PEPPER");
    await compare([OLD, NEW]);
  });
});

describe("a key of the previous pepper", () => {
  const directory = (notMoved: string[] = []) =>
    new KeyDirectory({
      database: own.database,
      now: Date.now,
      pepper: secretId("KEY_PEPPER", NEW),
      onNotMoved: (_, keyId) => notMoved.push(keyId),
    });

  test("is found, and moves to the current one by its use", async () => {
    const key = await makeKey(OLD);
    const found = await directory().find(keyDigests(key.secret, [NEW, OLD]), turn);
    expect(found?.keyId).toBe(key.id);
    const moved = { digest: keyDigest(key.secret, NEW), pepper: secretId("KEY_PEPPER", NEW) };
    await eventually("the key has moved", async () => {
      return Bun.deepEquals(await storedKey(key.id), moved);
    });
    expect(await directory().find(keyDigests(key.secret, [NEW]), turn)).toEqual(found);
  });

  test("keeps its digest once it is revoked", async () => {
    const key = await makeKey(OLD);
    await new Accounts({ ...own, random, keyPepper: NEW }).revokeKey(key.id, new Date());
    const before = await storedKey(key.id);
    const keys = directory();
    await keys.find(keyDigests(key.secret, [NEW, OLD]), turn);
    const next = await makeKey(OLD);
    await keys.find(keyDigests(next.secret, [NEW, OLD]), turn);
    await eventually("the next key has moved", async () => {
      return (await storedKey(next.id)).digest === keyDigest(next.secret, NEW);
    });
    expect(await storedKey(key.id)).toEqual(before);
  });

  test("costs one statement, like an unknown key", async () => {
    const key = await makeKey(OLD);
    const statements: string[] = [];
    const select = own.database.db.select.bind(own.database.db) as (fields?: object) => unknown;
    Object.defineProperty(own.database.db, "select", {
      value: (fields?: object) => {
        statements.push("select");
        return select(fields);
      },
    });
    const keys = directory();
    await keys.find(keyDigests(key.secret, [NEW, OLD]), turn);
    expect(statements).toHaveLength(1);
    expect(await keys.find(["no such", "nor such"], turn)).toBeNull();
    expect(statements).toHaveLength(2);
  });
});

test("an idempotency key of the previous secret leads to the message that it made", async () => {
  const idempotencyKeys = new IdempotencyKeys(own.database);
  const accounts = new Accounts({ ...own, random, keyPepper: OLD });
  const { id: accountId } = await accounts.create({ surface: "gateway", email: null }, new Date());
  const keyUnder = (name: string) => ({
    accountId,
    digest: Buffer.from(`digest ${name}`),
    fingerprint: Buffer.from(`body ${name}`),
  });
  const [before, now] = [keyUnder(OLD), keyUnder(NEW)];
  expect((await idempotencyKeys.begin(before, crypto.randomUUID())).kind).toBe("mine");
  // While its message is being made, no other request makes one.
  expect((await idempotencyKeys.begin(now, crypto.randomUUID(), [before])).kind).toBe("pending");
  const message = crypto.randomUUID();
  await own.database.sql`UPDATE mail_repeats SET message = ${message}`;
  const found = await idempotencyKeys.begin(now, crypto.randomUUID(), [before]);
  expect(found).toMatchObject({ kind: "message" });
  // The key has moved: it is found without the previous secret too, and another body is refused.
  expect(await idempotencyKeys.begin(now, crypto.randomUUID())).toEqual(found);
  const otherBody = { ...now, fingerprint: Buffer.from("another body") };
  expect((await idempotencyKeys.begin(otherBody, crypto.randomUUID())).kind).toBe("reused");
});
