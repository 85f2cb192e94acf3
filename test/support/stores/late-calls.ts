// Calls whose hold the sweep resolves before they end, so that they are settled late.

import type { Hold } from "../../../actors/account.ts";
import type { AccountActors } from "../../../actors/account-actors.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { sweepExpired } from "../../../workers/sweep.ts";

interface Stores {
  readonly actors: AccountActors;
  flush(): Promise<unknown>;
}

/** Has the sweep resolve an open hold at this cost; the ledger has the charge then. */
export async function sweepHold({ actors, flush }: Stores, open: Hold, seen: NanoUsd) {
  open.checkpoint(seen);
  await actors.renewLeases();
  const later = Date.now() + 2 * LEASE_MS;
  const { expired } = await sweepExpired({
    scripts: actors.scripts,
    scriptTime: () => later,
  });
  if (expired !== 1) throw new Error(`The sweep resolved ${expired} holds`);
  await flush();
}
