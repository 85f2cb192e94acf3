// People open an account for applications, and name or close an account.

import type { ReadableAccounts } from "../../accounts/account-summary.ts";
import { type AdministrationDeps, apply } from "../../accounts/administration.ts";
import { closeAccount } from "../../accounts/closing.ts";
import { ConsoleError } from "../../core/console-errors.ts";
import { toDecimal } from "../../core/money/money.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type PersonContext,
  personEndpoint,
  requireProof,
} from "../../http/console/console-endpoint.ts";
import { countAttempt } from "../../identity/attempt-limits.ts";
import { openApplicationAccount, renameAccount } from "../../store/people/own-accounts.ts";
import { noted } from "../noted.ts";
import { type MeDeps, PROOF_MS } from "./me.ts";
import { Changed, Closed, CreatedAccount, NameBody, NewAccountBody } from "./people-schema.ts";

export interface OwnAccountsDeps extends MeDeps {
  readonly administration: AdministrationDeps;
  readonly wallets: ReadableAccounts;
}

const PATH = "/console/api/accounts";
const BODY_BYTES_MAX = 8 * 1_024;
/** Each has a Free plan with a monthly allowance, so a person may have only one. */
const APPLICATION_ACCOUNTS_MAX = 1;

const ID = "acct_7n42DGM5Tflk9n8mt7Fhc7";

const openAccount = personEndpoint({
  id: "openAccount",
  method: "POST",
  path: PATH,
  summary: "Open an account for applications",
  body: jsonBody(NewAccountBody, { bytesMax: BODY_BYTES_MAX }),
  reply: CreatedAccount,
  examples: [
    {
      summary: "An account for an application",
      body: { surface: "application", name: "My app" },
      reply: { id: ID, account: ID },
    },
  ],
  async run(context: PersonContext<OwnAccountsDeps>, fields: { readonly name: string }) {
    const { deps, person, request, clientIp, isLocal } = context;
    const { database, random } = deps.identity.services;
    await countAttempt(deps.identity, "open_account", { clientIp, email: person.email });
    const name = fields.name.trim();
    const { headers } = request;
    const origin = deps.identity.allowanceOrigin(person.email, { headers, clientIp, isLocal });
    const account = await openApplicationAccount(
      database,
      { ...person, name, origin, most: APPLICATION_ACCOUNTS_MAX },
      {
        random,
        now: new Date(deps.clock.now()),
        also: noted(context, "account_opened", name),
      },
    );
    if (account === null) {
      throw new ConsoleError("too_many_accounts", "You own an account for applications already");
    }
    await apply(deps.administration, account);
    return { id: account.id, account: account.id };
  },
});

const rename = accountEndpoint({
  id: "renameAccount",
  method: "POST",
  path: `${PATH}/{account}/rename`,
  role: "admin",
  summary: "Give the account another name",
  body: jsonBody(NameBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Changed,
  examples: [{ summary: "A new name", body: { name: "Our shop" }, reply: { ok: true } }],
  async run(context: AccountContext<OwnAccountsDeps>, fields: { readonly name: string }) {
    const { database } = context.deps.identity.services;
    const name = fields.name.trim();
    const also = noted(context, "account_renamed", name);
    await renameAccount(database, { number: context.account.number, name }, also);
    return { ok: true };
  },
});

const close = accountEndpoint({
  id: "closeAccount",
  method: "POST",
  path: `${PATH}/{account}/close`,
  role: "owner",
  summary: "Close the account permanently, and revoke its keys. Needs a recent password or code",
  reply: Closed,
  examples: [],
  async run(context: AccountContext<OwnAccountsDeps>) {
    requireProof(context, PROOF_MS);
    const { deps, account } = context;
    const also = noted(context, "account_closed", account.name ?? account.id);
    const { administration, wallets } = deps;
    const done = await closeAccount({ ...administration, wallets, also }, account.id);
    return { ok: true, paid_left_usd: toDecimal(done.paidLeft) };
  },
});

export const OWN_ACCOUNT_ENDPOINTS = [openAccount, rename, close] as const;
