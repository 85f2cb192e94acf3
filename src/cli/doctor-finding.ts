// The input and the result of a check of `farebox doctor`.

import type { ServerConfig } from "../settings/config.ts";
import type { Fetch } from "../upstream/upstream-http.ts";
import type { Stores } from "./stores.ts";

export interface Finding {
  /** `problem`: it must be mended. `warning`: the operator should know it. */
  readonly state: "ok" | "warning" | "problem";
  readonly text: string;
}

export interface CheckContext {
  readonly stores: Stores;
  readonly config: ServerConfig;
  readonly fetch: Fetch;
  readonly now: () => number;
}

/** The check found nothing wrong. */
export function ok(text: string): Finding {
  return { state: "ok", text };
}

/** A finding that the operator should know. */
export function warning(text: string): Finding {
  return { state: "warning", text };
}

/** A finding that must be mended. */
export function problem(text: string): Finding {
  return { state: "problem", text };
}
