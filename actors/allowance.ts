// Grants the Free plan's monthly allowance (SPEC 8.6) when an account is first used in a month, so
// that no call has to wait for a worker.

import { lacksAllowance, parseDocument } from "../src/core/access.ts";
import type { AccountActor } from "./account-actor.ts";
import { fromPostgres } from "./script.ts";

export class Allowance {
  #granting: Promise<void> | null = null;

  constructor(readonly actor: AccountActor) {}

  /** Grants what is owed, if anything still is; calls at the same time share one grant. */
  grant(): Promise<void> {
    this.#granting ??= this.#grant().finally(() => {
      this.#granting = null;
    });
    return this.#granting;
  }

  /**
   * The month is that of Redis's clock, by which the credit will end. It is applied before the
   * document says that it was granted: who dies in between leaves that to the next call.
   */
  async #grant(): Promise<void> {
    const { accountId, deps } = this.actor;
    const { nowMs, document } = await this.actor.state();
    if (deps.allowance === 0n || !lacksAllowance(parseDocument(document), nowMs)) return;
    await fromPostgres(deps.repository.grantAllowance(accountId, nowMs, deps.allowance));
    await this.actor.applyCredits();
    await fromPostgres(this.actor.configure());
  }
}
