// The part of the console's services that knows people, as the API process opens it.

import type { Log } from "../core/log.ts";
import { createClientInfo } from "../http/client-info.ts";
import type { ConsoleFrameDeps } from "../http/console-endpoint.ts";
import type { IdentityDeps } from "../identity/auth-endpoints.ts";
import { Identity, type IdentityConfig, type IdentityServices } from "../identity/identity.ts";
import type { AccountRef } from "../store/accounts.ts";

interface Actors {
  of(
    accountId: string,
    bucket: number,
  ): { configure(): Promise<unknown>; applyOperations(): Promise<unknown> };
}

interface PeopleConfig extends Omit<IdentityConfig, "service"> {
  readonly configuredOrigin: string | null;
}

interface OpenPeopleDeps extends Omit<IdentityServices, "clientInfo" | "onOpened"> {
  readonly service: string;
  readonly accounts: Actors;
  readonly ipHashSecret: () => string;
  readonly windowSecret: string;
  readonly log: Log;
}

type PeopleServices = Pick<IdentityDeps, "identity"> &
  Pick<ConsoleFrameDeps, "people" | "consoleUrl">;

export function openPeople(
  { configuredOrigin, ...config }: PeopleConfig,
  { service, accounts, ipHashSecret, windowSecret, ...services }: OpenPeopleDeps,
): PeopleServices {
  const identity = new Identity(
    { ...config, service },
    {
      ...services,
      clientInfo: createClientInfo({ ipHashSecret, windowSecret }),
      onOpened: (account) => giveRedis(account, accounts, services.log),
    },
  );
  return { identity, people: identity, consoleUrl: configuredOrigin };
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
