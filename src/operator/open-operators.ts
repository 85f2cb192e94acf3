// Opens the rules that let an operator in, from the settings of an API process.

import { allowlist, isListed } from "../core/access/access.ts";
import type { OperatorDeps } from "./deps.ts";

interface OperatorConfig {
  /** Addresses and CIDR blocks; an empty list allows every address. */
  readonly operatorAddresses: readonly string[];
  readonly sso: { readonly isRequired: boolean } | null;
}

export function openOperators(config: OperatorConfig): OperatorDeps["operators"] {
  const { operatorAddresses, sso } = config;
  const mustUseSso = sso?.isRequired === true;
  if (operatorAddresses.length === 0) return { isAllowedFrom: () => true, mustUseSso };
  const allowed = allowlist(operatorAddresses);
  return { isAllowedFrom: (ip) => isListed(allowed, ip), mustUseSso };
}
