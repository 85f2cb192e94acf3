// The time zone in which the pages show times: UTC or that of this browser, kept between visits.

import { useSyncExternalStore } from "react";
import { remember, remembered } from "./session.tsx";
import { localZone, UTC } from "./time.ts";

const STORED = "farebox-zone";
const listeners = new Set<() => void>();
let current: string = remembered(STORED) === "local" ? localZone() : UTC;

/** The zone, and a function that changes it on all pages. */
export function useZone(): readonly [zone: string, change: (zone: string) => void] {
  const zone = useSyncExternalStore(subscribe, () => current);
  return [zone, changeZone];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changeZone(zone: string): void {
  current = zone;
  remember(STORED, zone === UTC ? "utc" : "local");
  for (const listener of listeners) listener();
}
