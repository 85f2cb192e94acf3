// What decides whether an operator may come in, from the settings of an API process.

import { allowlist, isListed } from "../core/access.ts";
import type { OperatorDeps } from "./deps.ts";

interface OperatorConfig {
  /** Addresses and CIDR blocks; none stands for every address. */
  readonly operatorAddresses: readonly string[];
}

export function openOperators({ operatorAddresses }: OperatorConfig): OperatorDeps["operators"] {
  if (operatorAddresses.length === 0) return { isAllowedFrom: () => true };
  const allowed = allowlist(operatorAddresses);
  return { isAllowedFrom: (ip) => isListed(allowed, ip) };
}
