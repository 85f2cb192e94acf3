import { readAccountSummary } from "../../accounts/account-summary.ts";
import { createKey, findAccount, renameOwnKey, revokeKey } from "../../accounts/administration.ts";
import { SCOPES, scopesOfSurface } from "../../core/access/services.ts";
import { keyName } from "../../store/accounts/account-keys.ts";
import type { Command } from "../command.ts";
import { notedChanges } from "../noted.ts";
import { indented } from "../print.ts";
import { addressesOf, amountOf, idOf, nameOf, scopesOf } from "../values.ts";
import { keyJson, keysText } from "./key-print.ts";

/** The Application API calls its scope a permission (SPEC 2.1). */
const SCOPES_HELP = `${SCOPES.join(", ")}; for an application key only ${scopesOfSurface(
  "application",
).join(", ")}, the permission Models API`;

const create: Command = {
  name: "key create",
  positionals: ["ID"],
  summary: "Create an API key for an account; it is shown only once",
  options: {
    scopes: {
      value: "a,b",
      help: SCOPES_HELP,
      required: true,
    },
    name: { value: "N", help: "a name for the key (default)" },
    ip: { value: "CIDR,...", help: "addresses and CIDR blocks that may use it (any)" },
    "monthly-limit": { value: "USD", help: "the most it may spend per month (no limit)" },
  },
  prepare(input) {
    const account = idOf(input, "account");
    const terms = {
      scopes: scopesOf(input, "scopes"),
      name: nameOf(input, "name", "default"),
      ipAllowlist: addressesOf(input, "ip"),
      monthlyLimit: input.values.has("monthly-limit") ? amountOf(input, "monthly-limit") : null,
    };
    return async ({ administration }) => {
      const deps = notedChanges(administration, "key_created", terms.name);
      const { id, key, applied } = await createKey(deps, account, terms);
      const { scopes, name } = terms;
      return {
        json: { id, key, account, name, scopes, applied },
        text: `Created key ${id}. Store it now, it is not shown again:\n${key}`,
      };
    };
  },
};

const revoke: Command = {
  name: "key revoke",
  positionals: ["KEY-ID"],
  summary: "Revoke a key; the next call with it is refused",
  options: {},
  prepare(input) {
    const keyId = idOf(input, "key");
    return async ({ administration, database }) => {
      const name = (await keyName(database, keyId)) ?? keyId;
      const deps = notedChanges(administration, "key_revoked", name);
      const { id, applied } = await revokeKey(deps, keyId);
      return { json: { id, revoked: true, applied }, text: `Key ${id} is revoked.` };
    };
  },
};

const list: Command = {
  name: "key list",
  positionals: ["ID"],
  summary: "List the keys of an account: what each may do, spent this month, and when it was used",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration, actors }) => {
      const account = await findAccount(administration, id);
      const keys = await administration.accounts.listKeys(account);
      const ids = keys.map((key) => key.id);
      const summary = await readAccountSummary(actors, account, ids);
      return {
        json: { account: id, keys: keys.map((key) => keyJson(key, summary)) },
        text: `keys of ${id}\n${indented(keysText(keys, summary))}`,
      };
    };
  },
};

const rename: Command = {
  name: "key rename",
  positionals: ["ID", "KEY-ID"],
  summary: "Give a key of an account another name",
  options: { name: { value: "N", help: "the new name", required: true } },
  prepare(input) {
    const accountId = idOf(input, "account");
    const keyId = idOf(input, "key", 1);
    const name = nameOf(input, "name", "");
    return async ({ administration }) => {
      const account = await findAccount(administration, accountId);
      const deps = notedChanges(administration, "key_renamed", name);
      const { id, applied } = await renameOwnKey(deps, account, { keyId, name });
      return { json: { id, name, applied }, text: `Key ${id} is called '${name}'.` };
    };
  },
};

export const keyCommands: readonly Command[] = [create, list, rename, revoke];
