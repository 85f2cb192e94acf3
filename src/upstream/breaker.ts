// A circuit breaker for one subject on one server: a model, or an action. A caller can make a
// server fail by what is requested, but cannot keep it from accepting connections. So a server that
// cannot be reached is given up for everybody; one that answers with failures only for the accounts
// that had one, and only while nobody else is served (D-564).

/** Requests in a row that found no connection, or that failed, before a server is given up. */
const FAILURES_TO_OPEN = 5;
/** So many accounts must have failed last, and they must be as many as those that did not. */
const ACCOUNTS_TO_OPEN = 3;
const SHARE_TO_OPEN = 0.5;
/** The last result of an account counts for so long. */
const WINDOW_MS = 20_000;
/** Accounts that are remembered beside one that failed; those that came first go first. */
export const ACCOUNTS_MAX = 1_000;
/** While somebody was served so lately, the server is not given up. */
const SERVED_MS = 5_000;
const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 60_000;
/** An account whose trial has had no answer for so long may try again. */
const TRIAL_MS = 5_000;

/**
 * How a request ended. `unreachable`: there was no connection to send it on; `failed`: the server
 * took it and did not serve it; `refused`: the server answered, and the request or the moment is at
 * fault; `ignored`: nothing is known of the server, because the caller left.
 */
export type AttemptResult = "ok" | "failed" | "refused" | "unreachable" | "ignored";

/** How the last request of an account ended. */
interface AccountState {
  /** When it ended; before all windows if it has not. */
  endedMs: number;
  hasFailed: boolean;
  /** While the server is given up, the account must wait until then. */
  waitsUntilMs: number;
  backOffMs: number;
}

export class Breaker {
  /** The accounts of the last seconds; none as long as nobody has failed. */
  readonly #accounts = new Map<string, AccountState>();
  #sweepAtMs = 0;
  #failures = 0;
  #servedMs = Number.NEGATIVE_INFINITY;
  /** Until then the accounts that failed must wait, and try again one request at a time. */
  #openUntilMs = 0;
  #unreachable = 0;
  /** True from the time that the server cannot be reached until it answers anybody. */
  #isCutOff = false;
  #cutOffUntilMs = 0;
  #cutOffMs = BACK_OFF_MS;

  constructor(readonly monotonicMs: () => number) {}

  /** True unless some accounts, or all, must wait now. */
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
    if (!this.#isCutOff && this.#openUntilMs === 0) return true;
    const nowMs = this.monotonicMs();
    if (nowMs < this.#cutOffUntilMs) return false;
    if (!this.#isCutOff && nowMs >= this.#openUntilMs) return true;
    return nowMs >= (this.#accounts.get(account)?.waitsUntilMs ?? 0);
  }

  /** Begins a request of an account; null while the server is given up for it. */
  begin(account: string): Attempt | null {
    if (!this.isPassableFor(account)) return null;
    return new Attempt(this, account, this.#beginTrial(account));
  }

  /** The server of a trial has begun to answer. */
  trialAnswered(): void {
    // Others may pass while the trial's stream continues; its end reports the result.
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

  /** Each account makes one trial after the other, so that no account can wait for another's. */
  #beginTrial(account: string): boolean {
    if (!this.#isCutOff && this.#openUntilMs === 0) return false;
    const nowMs = this.monotonicMs();
    if (!this.#isCutOff && nowMs >= this.#openUntilMs) return false;
    const state = this.#isCutOff ? this.#stateOf(account) : this.#accounts.get(account);
    if (state === undefined || !(this.#isCutOff || state.hasFailed)) return false;
    state.waitsUntilMs = nowMs + TRIAL_MS;
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
    // Long enough for the trials that follow.
    this.#openUntilMs = Math.max(this.#openUntilMs, state.waitsUntilMs + WINDOW_MS);
  }

  /** The server has answered, whatever it said. */
  #reached(): void {
    this.#unreachable = 0;
    if (!this.#isCutOff) return;
    this.#isCutOff = false;
    this.#cutOffUntilMs = 0;
    this.#cutOffMs = BACK_OFF_MS;
  }

  /** A request found no connection. */
  #miss(nowMs: number, wasTrial: boolean): void {
    this.#failures += 1;
    this.#unreachable += 1;
    if (this.#unreachable < FAILURES_TO_OPEN) return;
    if (this.#isCutOff) {
      // Neither what began before nor the second of several trials says anything new.
      if (!wasTrial || nowMs < this.#cutOffUntilMs) return;
      this.#cutOffMs = Math.min(this.#cutOffMs * 2, BACK_OFF_MS_MAX);
    }
    this.#isCutOff = true;
    this.#cutOffUntilMs = nowMs + this.#cutOffMs;
  }

  /** True if so many accounts fail, and so few do not, that it is not their requests. */
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

  /** Forgets the accounts that count no longer, and all once none of them has failed. */
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
 * One request in progress. A class, because an open stream keeps it: with functions, it would keep
 * what they were made in as well.
 */
export class Attempt {
  #hasEnded = false;

  constructor(
    readonly breaker: Breaker,
    readonly account: string,
    /** True if the account must wait for its result before it may make others. */
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
