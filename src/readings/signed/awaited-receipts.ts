// Waits for calls to be final, and gives their receipts to replies that carry one (D-960). One look
// at the log serves all calls that wait.

import type { Call, ReceiptSource } from "../../calls/call.ts";
import { type Clock, wait } from "../../core/clock.ts";
import { toUuid } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import type { Database } from "../../store/servers/database.ts";
import { loggedAmong } from "../../store/usage/receipts.ts";
import type { SignedReceipts } from "./signed-receipts.ts";

/** The flush moves a call to the log within half a second, unless there is much to move. */
const LOOK_MS = 200;
const PATIENCE_MS = 5_000;
/**
 * The receipts that are issued at once. Each takes some eight statements, and a flush can end
 * thousands of calls: all at once they would keep the connections from everything else (D-960).
 */
const AT_ONCE = 4;
/** After so long the log is looked at again, also if receipts of the last look are left. */
const ISSUE_MS = 1_000;

type WaitingCall = Pick<Call, "requestId" | "identity" | "signal">;

interface AwaitedReceipt {
  readonly call: WaitingCall;
  readonly untilMs: number;
  readonly resolve: (receipt: string | null) => void;
}

export interface AwaitedDeps {
  readonly database: Database;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly receipts: Pick<SignedReceipts, "of">;
  readonly log: Pick<Log, "warn">;
}

/** Gives the receipt of a call as soon as the call is final. */
export class AwaitedReceipts implements ReceiptSource {
  readonly #deps: AwaitedDeps;
  /** By the id of the request, as Postgres has it. */
  readonly #waiting = new Map<string, AwaitedReceipt>();
  #isLooking = false;

  constructor(deps: AwaitedDeps) {
    this.#deps = deps;
  }

  whenFinal(call: WaitingCall): Promise<string | null> {
    const untilMs = this.#deps.clock.monotonicMs() + PATIENCE_MS;
    return new Promise((resolve) => {
      this.#waiting.set(toUuid(call.requestId), { call, untilMs, resolve });
      if (!this.#isLooking) void this.#look();
    });
  }

  /** Looks as long as a call waits. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.size > 0) {
      await wait(this.#deps, LOOK_MS);
      await this.#giveAll(await this.#final());
      this.#giveUp();
    }
    this.#isLooking = false;
  }

  /** The waiting calls that are in the log; none if Postgres does not answer. */
  async #final(): Promise<readonly string[]> {
    try {
      return await loggedAmong(this.#deps.database, [...this.#waiting.keys()]);
    } catch (err) {
      this.#deps.log.warn({ err }, "The log was not read for receipts");
      return [];
    }
  }

  async #giveAll(final: readonly string[]): Promise<void> {
    const { clock } = this.#deps;
    const endMs = clock.monotonicMs() + ISSUE_MS;
    const left = final.values();
    const giveSome = async () => {
      for (const uuid of left) {
        await this.#give(uuid);
        if (clock.monotonicMs() >= endMs) return;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, giveSome));
  }

  async #give(uuid: string): Promise<void> {
    const waiting = this.#waiting.get(uuid);
    if (waiting === undefined) return;
    this.#waiting.delete(uuid);
    const { call, resolve } = waiting;
    const { accountId: account, keyId } = call.identity;
    try {
      const { jws } = await this.#deps.receipts.of({ account, keyId, request: call.requestId });
      resolve(jws);
    } catch (err) {
      this.#deps.log.warn({ requestId: call.requestId, err }, "A receipt was not issued");
      resolve(null);
    }
  }

  #giveUp(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [uuid, { call, untilMs, resolve }] of this.#waiting) {
      if (nowMs < untilMs && !call.signal.aborted) continue;
      this.#waiting.delete(uuid);
      resolve(null);
    }
  }
}
