// Who the command line acts as.

import type { Actor } from "../store/activity.ts";

/** The operator at a terminal, as an account's activity names them. */
export const OPERATOR: Actor = { name: "operator", personId: null, country: null, ipHash: null };
