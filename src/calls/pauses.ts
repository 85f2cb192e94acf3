import type { PauseTarget } from "../core/access/services.ts";

/** The services and models that an operator has paused. */
export interface Pauses {
  isPaused(target: PauseTarget): boolean;
}
