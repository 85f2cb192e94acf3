// Checks settings that are for development on this machine alone, and warns operators about them.

import { isLoopback } from "../core/loopback.ts";
import { movesMoney, type ProviderName } from "../core/money/payment-names.ts";
import { ConfigError, type Environment, type Values } from "./environment.ts";
import type { SERVER_VARIABLES } from "./variables.ts";

type Reach = Pick<Values<typeof SERVER_VARIABLES>, "HOST"> & { readonly CONSOLE_URL: URL | null };

/**
 * Requires that no setting makes this installation reachable from other machines: HOST alone does
 * not show that, because a proxy or a tunnel listens beside it (D-550). `setting` names the setting
 * that requires this.
 * @throws ConfigError
 */
export function requireThisMachine({ HOST: host, CONSOLE_URL: url }: Reach, setting: string): void {
  const problem = isLoopback(host)
    ? url !== null && !isLoopback(url.hostname) && `CONSOLE_URL is ${url.origin}`
    : `HOST is ${host}`;
  if (problem === false) return;
  throw new ConfigError(`${setting}, which is for development on this machine: ${problem}`);
}

interface Conveniences {
  readonly console: { readonly showsMails: boolean } | null;
  readonly payments: { readonly name: ProviderName } | null;
}

/** Warns the operator of settings that must change before other machines reach the installation. */
export function warningsOf(
  { console, payments }: Conveniences,
  environment: Environment,
): readonly string[] {
  const shows = console?.showsMails === true && "shows mailed codes and links in its answers";
  const plays = payments !== null && !movesMoney(payments.name) && "takes test cards as payment";
  const both = [shows, plays].filter((one) => one !== false).join(" and ");
  return [
    ...(both === ""
      ? []
      : [
          `DEVELOPMENT: this installation ${both}. Whoever reaches its port signs in as ` +
            "anybody or gets credit for nothing: before a proxy leads here, set CONSOLE_URL",
        ]),
    ...(environment.NODE_TLS_REJECT_UNAUTHORIZED === "0"
      ? [
          "NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, so whoever is on the " +
            "way reads and changes payments, mails and replies of models. Unset it; for a CA of " +
            "your own set NODE_EXTRA_CA_CERTS",
        ]
      : []),
  ];
}
