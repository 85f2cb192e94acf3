// Which secrets the stores were used with. A process with another one would answer 401 to every
// key, or hash the address of one caller in two ways: it must not start (D-150).

import {
  SECRET_NAMES,
  type SecretList,
  type SecretName,
  type Secrets,
  secretId,
} from "../core/secrets.ts";
import { arrayText, type Database } from "./database.ts";

/** Any fixed number: processes that start together take turns. */
const SECRETS_LOCK = 720_314_005;
const KEYS_NAMED_MAX = 3;

/** A secret is not the one that the stores were used with; the message is for the operator. */
export class WrongSecret extends Error {
  override readonly name = "WrongSecret";
}

type Transaction = Parameters<Parameters<Database["sql"]["begin"]>[1]>[0];

/**
 * Compares the secrets of a serving process with those that Postgres knows, and stores the current
 * ones as what counts from now on.
 * @throws WrongSecret
 */
export async function adoptSecrets(database: Database, secrets: Secrets): Promise<void> {
  await database.sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${SECRETS_LOCK}::bigint)`;
    for (const name of SECRET_NAMES) {
      const ids = idsOf(name, secrets[name]);
      const stored = await storedId(tx, name);
      if (stored !== null && !ids.includes(stored)) throw unknownSecret(name);
      if (name === "KEY_PEPPER") {
        await namePeppers(tx, { stored, ids });
        await refuseLostKeys(tx, ids);
      }
      const current = ids[0] ?? "";
      if (stored === current) continue;
      await tx`
        INSERT INTO secrets (name, fingerprint) VALUES (${name}, ${current})
        ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, since = now()`;
    }
  });
}

/**
 * Compares the secrets of a tool, which must not run ahead of the serving processes: a key that it
 * made with a pepper of its own would be unknown to them.
 * @throws WrongSecret
 */
export async function compareSecrets(database: Database, secrets: Secrets): Promise<void> {
  await database.sql.begin(async (tx) => {
    for (const name of SECRET_NAMES) {
      const ids = idsOf(name, secrets[name]);
      const stored = await storedId(tx, name);
      if (stored !== null && !ids.includes(stored)) throw unknownSecret(name);
      if (name === "KEY_PEPPER") await refuseLostKeys(tx, ids);
      if (stored !== null && ids[0] !== stored) {
        throw new WrongSecret(
          `The servers do not run with the first secret of ${name}. Restart them with the same ` +
            "list first, or give this program the list that they have.",
        );
      }
    }
  });
}

function idsOf(name: SecretName, list: SecretList): string[] {
  return list.map((secret) => secretId(name, secret));
}

async function storedId(tx: Transaction, name: SecretName): Promise<string | null> {
  const [row] = await tx`SELECT fingerprint FROM secrets WHERE name = ${name}`;
  return row === undefined ? null : String(row.fingerprint);
}

function unknownSecret(name: SecretName): WrongSecret {
  return new WrongSecret(
    `${name} is not the secret that this database was used with. Set it to the one of before. To ` +
      `replace it, put the new one first and keep the old one: ${name}=new,old ` +
      "(docs/operating.md).",
  );
}

/** Keys of a release that named no pepper were made with the one that counted until now. */
async function namePeppers(
  tx: Transaction,
  { stored, ids }: { readonly stored: string | null; readonly ids: readonly string[] },
): Promise<void> {
  const pepper = stored ?? ids[0] ?? "";
  const { count } = await tx`UPDATE keys SET pepper = ${pepper} WHERE pepper IS NULL`;
  if (count === 0 || stored !== null || ids.length === 1) return;
  throw new WrongSecret(
    "KEY_PEPPER lists several secrets, and this database does not know yet which of them its " +
      "keys were made with. Start once with that one alone.",
  );
}

/** A live key whose pepper is not listed would be unknown, and its caller would be told 401. */
async function refuseLostKeys(tx: Transaction, ids: readonly string[]): Promise<void> {
  const lost = await tx`
    SELECT id, count(*) OVER () AS total FROM keys
    WHERE revoked_at IS NULL AND pepper IS NOT NULL
      AND pepper <> ALL(${arrayText(ids)}::text::text[])
    ORDER BY number LIMIT ${KEYS_NAMED_MAX}`;
  if (lost.length === 0) return;
  const total = Number(lost[0]?.total);
  const named = lost.map(({ id }) => String(id)).join(", ");
  throw new WrongSecret(
    `KEY_PEPPER lacks the secret of ${total} API keys that are not revoked (${named}` +
      `${total > lost.length ? ", …" : ""}). Add it after the others, separated by a comma; a ` +
      "key moves to the first one when it is used. Revoke keys that nobody uses " +
      "(docs/operating.md).",
  );
}
