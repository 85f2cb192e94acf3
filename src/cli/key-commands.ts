import { createKey, revokeKey } from "../accounts/administration.ts";
import { SCOPES, scopesOfSurface } from "../core/services.ts";
import type { Command } from "./command.ts";
import { addressesOf, amountOf, idOf, nameOf, scopesOf } from "./values.ts";

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
      const { id, key, applied } = await createKey(administration, account, terms);
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
    return async ({ administration }) => {
      const { id, applied } = await revokeKey(administration, keyId);
      return { json: { id, revoked: true, applied }, text: `Key ${id} is revoked.` };
    };
  },
};

export const keyCommands: readonly Command[] = [create, revoke];
