// Gives up a server for one subject, a model or an action, while the server fails: a circuit
// breaker. A caller can make a server fail with a request, but cannot keep the server from taking
// connections. So a server that takes no connections is given up for all accounts. A server that
// answers with failures is given up only for the accounts that had a failure, and only while no
// other account is served (D-564).

/** Requests in a row that found no connection, or that failed, before a server is given up. */
const FAILURES_TO_OPEN = 5;
/** A server is given up only if the last requests of at least so many accounts failed. */
const ACCOUNTS_TO_OPEN = 3;
/** Those accounts must be at least this share of the accounts with a result in the window. */
const SHARE_TO_OPEN = 0.5;
/** The last result of an account counts for so long. */
const WINDOW_MS = 20_000;
/** Accounts that are remembered while one of them has failed; beyond that the oldest is dropped. */
export const ACCOUNTS_MAX = 1_000;
/** For so long after a request was served, the server is not given up for failures. */
const SERVED_MS = 5_000;
const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 60_000;
/** An account whose trial has had no answer for so long may try again. */
const TRIAL_MS = 5_000;

/**
 * The result of a request. `unreachable`: there was no connection for the request; `failed`: the
 * server took the request and did not serve it; `refused`: the server answered, and the request or
 * the moment is at fault; `ignored`: the caller left, so the result says nothing about the server.
 */
export type AttemptResult = "ok" | "failed" | "refused" | "unreachable" | "ignored";

/** The last result of an account, and its pause while the server is given up. */
interface AccountState {
  /** The time of the last result; before all windows if there is none yet. */
  endedMs: number;
  hasFailed: boolean;
  /** While the server is given up, the account makes no request before this time. */
  waitsUntilMs: number;
  backOffMs: number;
}

export class Breaker {
  /** The accounts with a result in the window. Successes enter only beside a failure. */
  readonly #accounts = new Map<string, AccountState>();
  #sweepAtMs = 0;
  #failures = 0;
  #servedMs = Number.NEGATIVE_INFINITY;
  /** Until this time, accounts that failed must wait, then make one trial after the other. */
  #openUntilMs = 0;
  #unreachable = 0;
  /** Until this time, no account makes a request. Not 0 from a cut-off to the next answer. */
  #cutOffUntilMs = 0;
  #cutOffMs = BACK_OFF_MS;

  constructor(readonly monotonicMs: () => number) {}

  /** True if no account must wait now. */
  get isPassable(): boolean {
    const nowMs = this.monotonicMs();
    return nowMs >= this.#openUntilMs && nowMs >= this.#cutOffUntilMs;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** True if this account may make a request now. */
  isPassableFor(account: string): boolean {
    if (!this.#isGivenUp) return true;
    const waitsUntilMs = this.#accounts.get(account)?.waitsUntilMs ?? 0;
    return this.monotonicMs() >= Math.max(this.#cutOffUntilMs, waitsUntilMs);
  }

  /** Begins a request of an account; null while the server is given up for it. */
  begin(account: string): Attempt | null {
    if (!this.isPassableFor(account)) return null;
    return new Attempt(this, account, this.#beginTrial(account));
  }

  /** The server of a trial has begun to answer. */
  trialAnswered(): void {
    // Other requests may pass while the trial's stream continues; its end reports the result.
    this.#openUntilMs = 0;
    this.#reached();
  }

  /** A request is over; each is reported once. */
  ended(account: string, result: AttemptResult, wasTrial: boolean): void {
    const nowMs = this.monotonicMs();
    if (result === "unreachable") this.#miss(nowMs, wasTrial);
    else if (result !== "ignored") this.#reached();
    if (result === "ok") this.#serve(account, nowMs);
    else if (result === "failed") this.#fail(account, nowMs, wasTrial);
    else if (wasTrial) this.#stateOf(account).waitsUntilMs = nowMs;
    if (nowMs >= this.#sweepAtMs) this.#sweep(nowMs);
  }

  /** True after too many missed connections, until the server answers any account. */
  get #isCutOff(): boolean {
    return this.#cutOffUntilMs > 0;
  }

  /** True if some accounts must wait, or make trials. Asks for the time only after a failure. */
  get #isGivenUp(): boolean {
    return this.#isCutOff || (this.#openUntilMs > 0 && this.monotonicMs() < this.#openUntilMs);
  }

  /** Each account has its own trials, so that no account waits for the trial of another. */
  #beginTrial(account: string): boolean {
    if (!this.#isGivenUp) return false;
    const state = this.#isCutOff ? this.#stateOf(account) : this.#accounts.get(account);
    if (state === undefined || !(this.#isCutOff || state.hasFailed)) return false;
    state.waitsUntilMs = this.monotonicMs() + TRIAL_MS;
    return true;
  }

  #serve(account: string, nowMs: number): void {
    this.#failures = 0;
    this.#servedMs = nowMs;
    this.#openUntilMs = 0;
    if (this.#accounts.size === 0) return;
    const state = this.#stateOf(account);
    state.endedMs = nowMs;
    state.hasFailed = false;
    state.waitsUntilMs = 0;
    state.backOffMs = BACK_OFF_MS;
  }

  #fail(account: string, nowMs: number, wasTrial: boolean): void {
    const state = this.#stateOf(account);
    const isOpen = nowMs < this.#openUntilMs;
    if (wasTrial) state.backOffMs = Math.min(state.backOffMs * 2, BACK_OFF_MS_MAX);
    // A request that began before the server was given up says nothing new.
    if (wasTrial || !state.hasFailed || !isOpen) state.waitsUntilMs = nowMs + state.backOffMs;
    state.endedMs = nowMs;
    state.hasFailed = true;
    this.#failures += 1;
    if (!(isOpen || this.#isProven(nowMs))) return;
    // The window leaves time for the trials that follow.
    this.#openUntilMs = Math.max(this.#openUntilMs, state.waitsUntilMs + WINDOW_MS);
  }

  /** The server has answered, with a success or a failure. */
  #reached(): void {
    this.#unreachable = 0;
    this.#cutOffUntilMs = 0;
    this.#cutOffMs = BACK_OFF_MS;
  }

  /** A request found no connection. */
  #miss(nowMs: number, wasTrial: boolean): void {
    this.#failures += 1;
    this.#unreachable += 1;
    if (this.#unreachable < FAILURES_TO_OPEN) return;
    if (this.#isCutOff) {
      // Earlier requests and further trials of the same pause say nothing new.
      if (!wasTrial || nowMs < this.#cutOffUntilMs) return;
      this.#cutOffMs = Math.min(this.#cutOffMs * 2, BACK_OFF_MS_MAX);
    }
    this.#cutOffUntilMs = nowMs + this.#cutOffMs;
  }

  /** True if so large a share of the accounts fails that their requests cannot be the cause. */
  #isProven(nowMs: number): boolean {
    if (this.#failures < FAILURES_TO_OPEN || nowMs - this.#servedMs < SERVED_MS) return false;
    let all = 0;
    let failing = 0;
    for (const { endedMs, hasFailed } of this.#accounts.values()) {
      if (nowMs - endedMs >= WINDOW_MS) continue;
      all += 1;
      if (hasFailed) failing += 1;
    }
    return failing >= ACCOUNTS_TO_OPEN && failing >= all * SHARE_TO_OPEN;
  }

  #stateOf(account: string): AccountState {
    let state = this.#accounts.get(account);
    if (state === undefined) {
      const [oldest] = this.#accounts.size < ACCOUNTS_MAX ? [] : this.#accounts.keys();
      if (oldest !== undefined) this.#accounts.delete(oldest);
      const endedMs = Number.NEGATIVE_INFINITY;
      state = { endedMs, hasFailed: false, waitsUntilMs: 0, backOffMs: BACK_OFF_MS };
      this.#accounts.set(account, state);
    }
    return state;
  }

  /**
   * Forgets accounts whose results no longer count; forgets all accounts when no account has
   * failed.
   */
  #sweep(nowMs: number): void {
    this.#sweepAtMs = nowMs + WINDOW_MS;
    let hasFailed = false;
    for (const [account, state] of this.#accounts) {
      const isOver = nowMs - state.endedMs >= WINDOW_MS && nowMs >= state.waitsUntilMs;
      if (isOver) this.#accounts.delete(account);
      else hasFailed ||= state.hasFailed;
    }
    if (!(hasFailed || this.#isCutOff)) this.#accounts.clear();
  }
}

/**
 * One request in progress. A class, because an open stream keeps this object: functions would also
 * keep the scope that they were made in.
 */
export class Attempt {
  #hasEnded = false;

  constructor(
    readonly breaker: Breaker,
    readonly account: string,
    /** True if the account must wait for the result before its next request. */
    readonly isTrial: boolean,
  ) {}

  /** The server has begun to answer. */
  answered(): void {
    if (this.isTrial && !this.#hasEnded) this.breaker.trialAnswered();
  }

  /** Only the first call counts. */
  end(outcome: AttemptResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.breaker.ended(this.account, outcome, this.isTrial);
  }
}
