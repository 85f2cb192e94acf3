// Checks that a process has the secrets that the stores were used with. With another secret it
// would answer 401 to every key, or hash the same address differently, so it must not start
// (D-150).

import {
  SECRET_NAMES,
  type SecretList,
  type SecretName,
  type Secrets,
  type SoleSecretName,
  secretId,
} from "../../core/secrets.ts";
import { StartError } from "../../core/start-error.ts";
import { arrayText, type Database } from "./database.ts";
import { type SqlTransaction, takeSqlLock } from "./transaction.ts";

/** An arbitrary lock number: processes that start together take turns. */
const SECRETS_LOCK = 720_314_005;
const KEYS_NAMED_MAX = 3;

/**
 * A secret differs from the secret that the stores were used with; the message is for the operator.
 */
export class WrongSecret extends StartError {
  override readonly name = "WrongSecret";
}

type AnyName = SecretName | SoleSecretName;

/**
 * Compares the secrets of a serving process with the ones recorded in Postgres, and records its
 * first secrets as the current ones.
 * @throws WrongSecret
 */
export async function adoptSecrets(database: Database, secrets: Secrets): Promise<void> {
  await database.sql.begin(async (tx) => {
    await takeSqlLock(tx, SECRETS_LOCK);
    for (const name of SECRET_NAMES) {
      const { stored, ids } = await known(tx, name, secrets[name]);
      if (name === "KEY_PEPPER") {
        await assignPeppers(tx, { stored, ids });
        await requireAllPeppers(tx, ids);
      }
      await record(tx, name, { stored, ids });
    }
  });
}

/**
 * The same for a secret that only some processes have. Processes with different secrets of sessions
 * would end each other's sessions; with different secrets of identifiers, a provider would take one
 * caller for two people.
 * @throws WrongSecret
 */
export async function adoptSecret(
  database: Database,
  name: SoleSecretName,
  secrets: SecretList,
): Promise<void> {
  await database.sql.begin(async (tx) => {
    await takeSqlLock(tx, SECRETS_LOCK);
    await record(tx, name, await known(tx, name, secrets));
  });
}

interface KnownIds {
  /** Null if none is recorded yet. */
  readonly stored: string | null;
  readonly ids: readonly string[];
}

/** @throws WrongSecret if the recorded secret is not in the list */
async function known(tx: SqlTransaction, name: AnyName, list: SecretList): Promise<KnownIds> {
  const ids = idsOf(name, list);
  const stored = await storedId(tx, name);
  if (stored !== null && !ids.includes(stored)) throw unknownSecret(name);
  return { stored, ids };
}

async function record(tx: SqlTransaction, name: AnyName, { stored, ids }: KnownIds): Promise<void> {
  const current = ids[0] ?? "";
  if (stored === current) return;
  await tx`
    INSERT INTO secrets (name, fingerprint) VALUES (${name}, ${current})
    ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, since = now()`;
}

/**
 * Compares the secrets of a tool with the ones recorded in Postgres and records nothing. A tool
 * must not introduce a secret: the serving processes would not know a key created with a new
 * pepper.
 * @throws WrongSecret
 */
export async function compareSecrets(database: Database, secrets: Secrets): Promise<void> {
  await database.sql.begin(async (tx) => {
    for (const name of SECRET_NAMES) {
      const { stored, ids } = await known(tx, name, secrets[name]);
      if (name === "KEY_PEPPER") await requireAllPeppers(tx, ids);
      if (stored !== null && ids[0] !== stored) {
        throw new WrongSecret(
          `The servers use another first secret in ${name}. Restart them with this list, or run ` +
            "this program with theirs.",
        );
      }
    }
  });
}

function idsOf(name: AnyName, list: SecretList): string[] {
  return list.map((secret) => secretId(name, secret));
}

async function storedId(tx: SqlTransaction, name: AnyName): Promise<string | null> {
  const [row] = await tx`SELECT fingerprint FROM secrets WHERE name = ${name}`;
  return row === undefined ? null : String(row.fingerprint);
}

function unknownSecret(name: AnyName): WrongSecret {
  return new WrongSecret(
    `${name} is not the secret that this database was used with. Set it to the earlier secret. ` +
      `To replace a secret, put the new one first and keep the old one: ${name}=new,old ` +
      "(docs/operating.md).",
  );
}

/** Keys of a release that did not record the pepper were created with the current one. */
async function assignPeppers(
  tx: SqlTransaction,
  { stored, ids }: { readonly stored: string | null; readonly ids: readonly string[] },
): Promise<void> {
  const pepper = stored ?? ids[0] ?? "";
  const { count } = await tx`UPDATE keys SET pepper = ${pepper} WHERE pepper IS NULL`;
  if (count === 0 || stored !== null || ids.length === 1) return;
  throw new WrongSecret(
    "KEY_PEPPER lists several secrets, and this database has not recorded yet which of them its " +
      "keys were created with. Start once with only that secret.",
  );
}

/** Without the pepper of a key, its callers would receive 401. @throws WrongSecret */
async function requireAllPeppers(tx: SqlTransaction, ids: readonly string[]): Promise<void> {
  const orphaned = await tx`
    SELECT id, count(*) OVER () AS total FROM keys
    WHERE revoked_at IS NULL AND pepper IS NOT NULL
      AND pepper <> ALL(${arrayText(ids)}::text::text[])
    ORDER BY number LIMIT ${KEYS_NAMED_MAX}`;
  if (orphaned.length === 0) return;
  const total = Number(orphaned[0]?.total);
  const examples = orphaned.map(({ id }) => String(id)).join(", ");
  throw new WrongSecret(
    `KEY_PEPPER does not contain the secret of ${total} API keys that are not revoked ` +
      `(${examples}${total > orphaned.length ? ", …" : ""}). Add that secret after the others, ` +
      "separated by a comma; a key moves to the first secret when it is used. Revoke keys that " +
      "nobody uses (docs/operating.md).",
  );
}
