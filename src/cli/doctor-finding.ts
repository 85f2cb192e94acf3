// What a check of `farebox doctor` is given and answers.

import type { ServerConfig } from "../settings/config.ts";
import type { Fetch } from "../upstream/upstream-http.ts";
import type { Stores } from "./stores.ts";

export interface Finding {
  /** `problem`: it must be mended. `warning`: somebody should know. */
  readonly state: "ok" | "warning" | "problem";
  readonly text: string;
}

export interface CheckContext {
  readonly stores: Stores;
  readonly config: ServerConfig;
  readonly fetch: Fetch;
  readonly now: () => number;
}

/** Nothing is wrong. */
export function ok(text: string): Finding {
  return { state: "ok", text };
}

/** A finding that somebody should know of. */
export function warning(text: string): Finding {
  return { state: "warning", text };
}

/** A finding that must be mended. */
export function problem(text: string): Finding {
  return { state: "problem", text };
}
