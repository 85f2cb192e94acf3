// The part of the console's services that knows people, as the API process opens it.

import { type AdministrationDeps, apply } from "../../accounts/administration.ts";
import type { Log } from "../../core/log.ts";
import { Identity, type IdentityConfig, type IdentityServices } from "../../identity/identity.ts";
import type { MeDeps } from "./me.ts";

interface PeopleConfig extends Omit<IdentityConfig, "service" | "showsMailsTo"> {
  /** Whether answers show what was mailed, to requests of this machine. */
  readonly showsMails: boolean;
  readonly configuredOrigin: string | null;
}

type Installation = MeDeps["installation"];

interface OpenPeopleDeps extends Omit<IdentityServices, "onOpened"> {
  readonly mail: { readonly service: string; readonly relay: object | null };
  readonly payments: { readonly name: NonNullable<Installation["payments"]> } | null;
  readonly actors: AdministrationDeps["actors"];
  readonly log: Log;
}

type PeopleServices = Pick<MeDeps, "identity" | "installation" | "people" | "consoleUrl">;

export function openPeople(
  { configuredOrigin, showsMails, ...config }: PeopleConfig,
  { mail, payments, actors, ...services }: OpenPeopleDeps,
): PeopleServices {
  const onDelayed = (account: string, error: unknown) =>
    services.log.warn({ err: error, account }, "A new account is not in Redis yet");
  const identity = new Identity(
    { ...config, service: mail.service, showsMailsTo: mailsShown(showsMails) },
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

/** To whom answers show what was mailed: to nobody, or to requests of this machine (D-550). */
export function mailsShown(showsMails: boolean): IdentityConfig["showsMailsTo"] {
  return ({ isLocal }) => showsMails && isLocal;
}
