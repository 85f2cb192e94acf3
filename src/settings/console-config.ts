// Decides if a process serves the console, and under which address.

import { isLoopback } from "../core/loopback.ts";
import type { SecretList } from "../core/secrets.ts";
import type { SsoConfig } from "../identity/sso.ts";
import type { CONSOLE_VARIABLES } from "./console-variables.ts";
import { ConfigError, type Values } from "./environment.ts";
import { type SSO_VARIABLES, ssoConfigOf } from "./sso-variables.ts";
import { requireThisMachine } from "./this-machine.ts";
import type { MAIL_VARIABLES, SERVER_VARIABLES } from "./variables.ts";

export interface ConsoleConfig {
  readonly secrets: SecretList;
  /** The origin that people open. */
  readonly origin: string;
  /** The configured origin; null: pages of any name of this machine are ours. */
  readonly configuredOrigin: string | null;
  /** True if answers show the content of mails. */
  readonly showsMails: boolean;
  /** True if a network gets free credit by sign-up only once. */
  readonly countsNetworks: boolean;
  /** Addresses and CIDR blocks of operators; an empty list allows every address. */
  readonly operatorAddresses: readonly string[];
  /** The provider of single sign-on for operators; null without single sign-on. */
  readonly sso: SsoConfig | null;
}

type ConsoleValues = Values<typeof CONSOLE_VARIABLES> &
  Values<typeof SSO_VARIABLES> &
  Pick<Values<typeof SERVER_VARIABLES>, "HOST" | "PORT"> &
  Pick<Values<typeof MAIL_VARIABLES>, "MAIL_SMTP_URL">;

/** Continues the name of the variable with the rule that an address breaks; null for a good one. */
export function originProblem({ protocol, hostname }: URL): string | null {
  const isOpen = protocol === "http:" && !isLoopback(hostname);
  return isOpen ? "must begin with https:// unless it is of this machine" : null;
}

/** Combines the values of the variables. @throws ConfigError */
export function consoleConfigOf(values: ConsoleValues): ConsoleConfig | null {
  const { SESSION_SECRET: secrets, CONSOLE_URL: url, HOST: host, PORT: port } = values;
  const sso = ssoConfigOf(values);
  if (secrets === null) {
    if (url === null && sso === null) return null;
    const needs = url === null ? "OPERATOR_OIDC_ISSUER" : "CONSOLE_URL";
    throw new ConfigError(`SESSION_SECRET is not set; ${needs} needs it`);
  }
  if (url === null && !isLoopback(host)) {
    throw new ConfigError("CONSOLE_URL is not set; SESSION_SECRET needs it if HOST is public");
  }
  const problem = url === null ? null : originProblem(url);
  if (problem !== null) throw new ConfigError(`CONSOLE_URL ${problem}`);
  const showsMails = values.CONSOLE_SHOW_MAILS;
  if (showsMails) requireThisMachine(values, "CONSOLE_SHOW_MAILS is true");
  if (showsMails && values.MAIL_SMTP_URL !== null) {
    throw new ConfigError("CONSOLE_SHOW_MAILS must be false if MAIL_SMTP_URL is set");
  }
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return Object.freeze({
    secrets,
    origin: url?.origin ?? `http://${authority}`,
    configuredOrigin: url?.origin ?? null,
    showsMails,
    countsNetworks: values.FREE_CREDIT_PER_NETWORK === "once",
    operatorAddresses: values.OPERATOR_ALLOWED_IPS,
    sso,
  });
}
