// The endpoints about people, in the order of the documentation.

import type { ConsoleEndpoint } from "../../http/console/console-endpoint.ts";
import { AUTH_ENDPOINTS } from "../../identity/auth-endpoints.ts";
import { ME_ENDPOINTS } from "./me.ts";
import { OWN_ACCOUNT_ENDPOINTS, type OwnAccountsDeps } from "./own-accounts.ts";
import { PASSKEY_ENDPOINTS } from "./passkeys.ts";
import { TEAM_ENDPOINTS } from "./team.ts";

export type PeopleDeps = OwnAccountsDeps;

export const PEOPLE_ENDPOINTS: readonly ConsoleEndpoint<PeopleDeps>[] = [
  ...AUTH_ENDPOINTS,
  ...ME_ENDPOINTS,
  ...PASSKEY_ENDPOINTS,
  ...OWN_ACCOUNT_ENDPOINTS,
  ...TEAM_ENDPOINTS,
];
