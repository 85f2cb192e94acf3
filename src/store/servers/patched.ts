// Checks that the clients of both stores have our patches, without which they lose stored data.

import { StartError } from "../../core/start-error.ts";

/** @throws StartError if a package does not say that its patch is in place, as it is today */
export function checkPatched(client: object, patch: string): void {
  if ("changedBy" in client && client.changedBy === patch) return;
  throw new StartError("A package lacks its patch: run `node scripts/patch-packages.mjs`");
}
