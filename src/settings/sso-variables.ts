// Defines and combines the environment variables of single sign-on, by which operators sign in
// through an OpenID Connect provider.

import { isLoopback } from "../core/loopback.ts";
import type { SsoConfig } from "../identity/sso.ts";
import { ConfigError, type Values, type Variables } from "./environment.ts";
import { anyText, flag, webAddress } from "./variable-kinds.ts";

export const SSO_VARIABLES = {
  OPERATOR_OIDC_ISSUER: {
    kind: webAddress,
    about:
      "the issuer of the OpenID Connect provider through which operators sign in, as its " +
      "discovery document names it; without it there is no single sign-on",
  },
  OPERATOR_OIDC_CLIENT_ID: {
    kind: anyText,
    about: "the id under which the provider knows this installation",
  },
  OPERATOR_OIDC_CLIENT_SECRET: {
    kind: anyText,
    isSecret: true,
    about: "the secret of that client",
  },
  OPERATOR_OIDC_ONLY: {
    kind: flag,
    default: "false",
    about: "whether `/operator` is open only to sessions that began at the provider",
  },
  OPERATOR_OIDC_GROUP: {
    kind: anyText,
    about:
      "a group that the claim `groups` must name; whoever is in it is an operator while signed " +
      "in through the provider, without an invitation",
  },
  OPERATOR_OIDC_ACR: {
    kind: anyText,
    about:
      "the value of the claim `acr` that says that a second factor was used; it is asked for. " +
      "The claim `amr` says so, too",
  },
} as const satisfies Variables;

/** The variables that single sign-on needs: all of them or none. */
const NEEDED = [
  "OPERATOR_OIDC_ISSUER",
  "OPERATOR_OIDC_CLIENT_ID",
  "OPERATOR_OIDC_CLIENT_SECRET",
] as const;

const NAMES = Object.keys(SSO_VARIABLES) as (keyof typeof SSO_VARIABLES)[];

/** Combines the values of the variables; null without single sign-on. @throws ConfigError */
export function ssoConfigOf(values: Values<typeof SSO_VARIABLES>): SsoConfig | null {
  const {
    OPERATOR_OIDC_ISSUER: issuer,
    OPERATOR_OIDC_CLIENT_ID: clientId,
    OPERATOR_OIDC_CLIENT_SECRET: clientSecret,
    OPERATOR_OIDC_GROUP: group,
    OPERATOR_OIDC_ACR: acr,
    OPERATOR_OIDC_ONLY: isRequired,
  } = values;
  if (issuer === null || clientId === null || clientSecret === null) {
    const missing = NEEDED.filter((name) => values[name] === null);
    const given = NAMES.find((name) => values[name] !== null && values[name] !== false);
    if (given === undefined) return null;
    const verb = missing.length === 1 ? "is" : "are";
    throw new ConfigError(`${missing.join(" and ")} ${verb} not set; ${given} needs it`);
  }
  if (issuer.protocol === "http:" && !isLoopback(issuer.hostname)) {
    throw new ConfigError(
      "OPERATOR_OIDC_ISSUER must begin with https:// unless it is of this machine",
    );
  }
  if (issuer.search !== "" || issuer.hash !== "" || issuer.username !== "") {
    throw new ConfigError("OPERATOR_OIDC_ISSUER must be an address without '?', '#' and user");
  }
  return Object.freeze({ issuer: issuer.href, clientId, clientSecret, group, acr, isRequired });
}
