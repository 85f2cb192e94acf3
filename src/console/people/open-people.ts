// Opens the part of the console's dependencies that is about people.

import { type AdministrationDeps, apply } from "../../accounts/administration.ts";
import type { ReadBrand } from "../../core/brand/brand.ts";
import type { Log } from "../../core/log.ts";
import { Identity, type IdentityConfig, type IdentityServices } from "../../identity/identity.ts";
import type { MeDeps } from "./me.ts";

interface PeopleConfig extends Omit<IdentityConfig, "brand" | "showsMailsTo"> {
  /** True if answers to requests of this machine show the mails that were sent. */
  readonly showsMails: boolean;
  readonly configuredOrigin: string | null;
}

type Installation = MeDeps["installation"];

interface OpenPeopleDeps extends Omit<IdentityServices, "onOpened"> {
  readonly brand: ReadBrand;
  readonly mail: { readonly relay: object | null };
  readonly payments: { readonly name: NonNullable<Installation["payments"]> } | null;
  readonly actors: AdministrationDeps["actors"];
  readonly log: Log;
}

type PeopleServices = Pick<MeDeps, "identity" | "installation" | "people" | "consoleUrl">;

export function openPeople(
  { configuredOrigin, showsMails, ...config }: PeopleConfig,
  { brand, mail, payments, actors, ...services }: OpenPeopleDeps,
): PeopleServices {
  const onDelayed = (account: string, error: unknown) =>
    services.log.warn({ err: error, account }, "A new account is not in Redis yet");
  const identity = new Identity(
    { ...config, brand, showsMailsTo: mailsShown(showsMails) },
    {
      ...services,
      onOpened: (account) => apply({ actors, onDelayed }, account),
    },
  );
  const installation = {
    base_url: config.origin,
    payments: payments?.name ?? null,
    mail_sink: mail.relay === null,
  };
  return { identity, installation, people: identity, consoleUrl: configuredOrigin };
}

/**
 * The requests whose answers show the mails that were sent: none, or those of this machine (D-550).
 */
export function mailsShown(showsMails: boolean): IdentityConfig["showsMailsTo"] {
  return ({ isLocal }) => showsMails && isLocal;
}
