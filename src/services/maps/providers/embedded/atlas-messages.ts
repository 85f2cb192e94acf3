// The messages to and from the thread of the atlas.

import type { MapRequest } from "./map-drawing.ts";

/** Builds or opens the data file of places, once. */
export interface AtlasStart {
  readonly type: "start";
  readonly directory: string;
}

export interface AtlasQuestion {
  readonly type: "draw";
  readonly id: number;
  readonly map: MapRequest;
}

export type AtlasMessage =
  | { readonly type: "ready" }
  | { readonly type: "drawn"; readonly id: number; readonly png: Uint8Array }
  | { readonly type: "failed"; readonly id: number; readonly reason: string }
  | {
      readonly type: "log";
      readonly level: "info" | "warn" | "error";
      readonly fields: object;
      readonly message: string;
    };
