import { readAccountSummary } from "../../accounts/account-summary.ts";
import {
  changeOwnKey,
  createKey,
  findAccount,
  findOwnKey,
  revokeKey,
} from "../../accounts/administration.ts";
import { type KeyChange, keyChangeWords } from "../../core/access/key-limits.ts";
import { SCOPES, scopesOfSurface } from "../../core/access/services.ts";
import { keyName } from "../../store/accounts/account-keys.ts";
import { type Command, type Input, UsageError } from "../command.ts";
import { notedChanges } from "../noted.ts";
import { indented } from "../print.ts";
import {
  addressesOf,
  amountOf,
  endOf,
  idOf,
  modelsOf,
  nameAmong,
  nameOf,
  rateOf,
  scopesOf,
  tagsOf,
} from "../values.ts";
import { keyJson, keyLimitsJson, keysText } from "./key-print.ts";

/** The Application API calls its scope a permission (SPEC 2.1). */
const SCOPES_HELP = `${SCOPES.join(", ")}; for an application key only ${scopesOfSurface(
  "application",
).join(", ")}, the permission Models API`;

const MODELS_HELP = "ids of the models that it may call; * stands for any characters";

/** The options of a new key and of a change alike. */
const SHARED_OPTIONS = {
  tags: { value: "a,b|none", help: "words by which its calls are found and summed" },
  "requests-minute": { value: "N|any", help: "requests in 60 seconds; the tier's limit stays" },
  "requests-day": { value: "N|any", help: "requests in a UTC day" },
  "tokens-minute": { value: "N|any", help: "tokens of prompts and replies in 60 seconds" },
  "tokens-day": { value: "N|any", help: "tokens of prompts and replies in a UTC day" },
} as const;

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
    ends: { value: "TIME", help: "from when on it is refused (never)" },
    models: { value: "a,b*", help: `${MODELS_HELP} (any)` },
    ...SHARED_OPTIONS,
  },
  prepare(input) {
    const account = idOf(input, "account");
    const terms = {
      scopes: scopesOf(input, "scopes"),
      name: nameOf(input, "name", "default"),
      ipAllowlist: addressesOf(input, "ip"),
      monthlyLimit: input.values.has("monthly-limit") ? amountOf(input, "monthly-limit") : null,
      ...limitsIn(input),
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
      const { id, applied } = await changeOwnKey(deps, account, { keyId, name });
      return { json: { id, name, applied }, text: `Key ${id} is called '${name}'.` };
    };
  },
};

const set: Command = {
  name: "key set",
  positionals: ["ID", "KEY-ID"],
  summary: "Disable or enable a key of an account, or change its end, models, rates or tags",
  options: {
    disabled: { value: "yes|no", help: "whether every call with it is refused" },
    ends: { value: "TIME|none", help: "from when on it is refused" },
    models: { value: "a,b*|any", help: MODELS_HELP },
    ...SHARED_OPTIONS,
  },
  prepare(input) {
    const accountId = idOf(input, "account");
    const keyId = idOf(input, "key", 1);
    const change = limitsIn(input);
    const words = keyChangeWords(change);
    if (words === "") throw new UsageError("Give at least one option: they say what changes");
    return async ({ administration }) => {
      const account = await findAccount(administration, accountId);
      const { name } = await findOwnKey(administration, account, keyId);
      const deps = notedChanges(administration, "key_limited", `${name}: ${words}`);
      const { id, applied } = await changeOwnKey(deps, account, { ...change, keyId });
      const changed = await findOwnKey(administration, account, keyId);
      return {
        json: { id, ...keyLimitsJson(changed), applied },
        text: `Key ${id}: ${words}.`,
      };
    };
  },
};

function flagOf({ values }: Input, option: string): boolean | undefined {
  const text = values.get(option);
  if (text === undefined) return undefined;
  const word = nameAmong(["yes", "no"], text);
  if (word !== undefined) return word === "yes";
  throw new UsageError(`--${option} must be yes or no, but is '${text}'`);
}

/** The limits among the options; those that are not given are missing. */
function limitsIn(input: Input): KeyChange {
  const isDisabled = flagOf(input, "disabled");
  const endsAt = endOf(input, "ends");
  const models = modelsOf(input, "models");
  const tags = tagsOf(input, "tags");
  const requestsPerMinute = rateOf(input, "requests-minute");
  const requestsPerDay = rateOf(input, "requests-day");
  const tokensPerMinute = rateOf(input, "tokens-minute");
  const tokensPerDay = rateOf(input, "tokens-day");
  return {
    ...(isDisabled !== undefined && { isDisabled }),
    ...(endsAt !== undefined && { endsAt }),
    ...(models !== undefined && { models }),
    ...(tags !== undefined && { tags }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(requestsPerDay !== undefined && { requestsPerDay }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(tokensPerDay !== undefined && { tokensPerDay }),
  };
}

export const keyCommands: readonly Command[] = [create, list, rename, set, revoke];
