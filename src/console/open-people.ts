// The part of the console's services that knows people, as the API process opens it.

import type { Log } from "../core/log.ts";
import { createClientInfo } from "../http/client-info.ts";
import { Identity, type IdentityConfig, type IdentityServices } from "../identity/identity.ts";
import type { AccountRef } from "../store/accounts.ts";
import type { MeDeps } from "./me.ts";

interface Actors {
  of(
    accountId: string,
    bucket: number,
  ): { configure(): Promise<unknown>; applyOperations(): Promise<unknown> };
}

interface PeopleConfig extends Omit<IdentityConfig, "service"> {
  readonly configuredOrigin: string | null;
}

type Installation = MeDeps["installation"];

interface OpenPeopleDeps extends Omit<IdentityServices, "clientInfo" | "onOpened"> {
  readonly mail: { readonly service: string; readonly relay: object | null };
  readonly payments: { readonly name: NonNullable<Installation["payments"]> } | null;
  readonly accounts: Actors;
  readonly ipHashSecret: () => string;
  readonly windowSecret: string;
  readonly log: Log;
}

type PeopleServices = Pick<MeDeps, "identity" | "installation" | "people" | "consoleUrl">;

export function openPeople(
  { configuredOrigin, ...config }: PeopleConfig,
  { mail, payments, accounts, ipHashSecret, windowSecret, ...services }: OpenPeopleDeps,
): PeopleServices {
  const identity = new Identity(
    { ...config, service: mail.service },
    {
      ...services,
      clientInfo: createClientInfo({ ipHashSecret, windowSecret }),
      onOpened: (account) => giveRedis(account, accounts, services.log),
    },
  );
  const installation = {
    base_url: config.origin,
    payments: payments?.name ?? null,
    mail_sink: mail.relay === null,
  };
  return { identity, installation, people: identity, consoleUrl: configuredOrigin };
}

/** Postgres has the account in any case, and the completer passes it on. */
async function giveRedis({ id, bucket }: AccountRef, accounts: Actors, log: Log): Promise<void> {
  const wallet = accounts.of(id, bucket);
  try {
    await wallet.configure();
    await wallet.applyOperations();
  } catch (error) {
    log.warn({ err: error, account: id }, "A new account is not in Redis yet");
  }
}
