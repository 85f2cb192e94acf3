// The runs of an account, as far as this process knows them. The runs are known for one version of
// the access document: a change of a run makes another version, as every change does (D-788). The
// deletion of a run long after its end makes none, so such a run is read again (D-901).

import type { AccessRefusal } from "../src/core/access/key-limits.ts";
import {
  type NamedRun,
  OPEN_RUNS_MAX,
  RUN_KEPT_MS_MIN,
  type Run,
  runRefusal,
  runToBegin,
} from "../src/core/access/runs.ts";
import { SECOND_MS } from "../src/core/durations.ts";
import type { ErrorCode } from "../src/core/errors.ts";
import { Batches, OpenWork } from "../src/core/open-work.ts";
import type { NewRun } from "../src/store/accounts/runs.ts";
import type { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import type { Asking } from "./account.ts";
import { fromPostgres } from "./scripts/script-runner.ts";

/** The most runs of an account that a process knows. */
export const RUNS_KNOWN_MAX = 1_000;

/** For this time, a process remembers that the account has as many open runs as allowed. */
const FULL_MS = SECOND_MS;

/** A call that names a run. */
interface RunCall {
  readonly named: NamedRun;
  readonly nowMs: number;
  readonly isQuote: boolean;
}

/** The run of a call, and the refusal of the call by it. */
export interface RunDecision {
  /** The run; a run that the call would begin has no number yet (`isBegun`). */
  readonly run: Run | null;
  readonly refusal: AccessRefusal | null;
}

export class AccountRuns {
  readonly #accountId: string;
  readonly #repository: WalletRepository;
  readonly #known = new Map<string, Run>();
  /** Calls at the same time share one reading of a run, and one start of the run. */
  readonly #reading = new OpenWork<Run | null>();
  /** Begins run one after the other: each waits for the account's row and holds a connection. */
  readonly #begins: Batches<NewRun, Run | null>;
  #fullUntilMs = 0;

  constructor(accountId: string, repository: WalletRepository) {
    this.#accountId = accountId;
    this.#repository = repository;
    this.#begins = new Batches(1, (runs) =>
      Promise.all(runs.map((run) => fromPostgres(repository.runs.begin(accountId, run)))),
    );
  }

  /** Finds the run of a call, or the terms on which the call would begin it. */
  async decide({ named, nowMs, isQuote }: RunCall): Promise<RunDecision> {
    const known = this.#known.get(named.id);
    if (known !== undefined && nowMs < known.endsAtMs + RUN_KEPT_MS_MIN) {
      return { run: known, refusal: runRefusal(known, nowMs) };
    }
    const found = await this.#read(named.id);
    if (found !== null) {
      this.#remember(found);
      return { run: found, refusal: runRefusal(found, nowMs) };
    }
    if (named.max === null) {
      const problem = "names no amount, and its run has not begun: begin it with '; max-usd=2.00'";
      return refused("invalid_parameter", `The header x-svc-run ${problem}`);
    }
    if (isQuote ? await this.#isFull(nowMs) : nowMs < this.#fullUntilMs) {
      const message = `The account has ${OPEN_RUNS_MAX} runs that have not ended`;
      return refused("too_many_budgets", message);
    }
    return { run: runToBegin(named, named.max, nowMs), refusal: null };
  }

  /** Begins the run of a call that would be admitted, unless the account has too many open runs. */
  async begin({ run, identity: { keyId } }: Asking["call"], nowMs: number): Promise<void> {
    if (run === null || run.max === null) throw new Error("The call can begin no run");
    const { id, max: amount, seconds } = run;
    const one = { id, keyId, amount, seconds, nowMs };
    const begun = await this.#reading.share(`begin ${id}`, () => this.#begins.add(one));
    if (begun === null) this.#fullUntilMs = nowMs + FULL_MS;
    else this.#remember(begun);
  }

  #read(id: string): Promise<Run | null> {
    const read = () => fromPostgres(this.#repository.runs.read(this.#accountId, id));
    return this.#reading.share(id, read);
  }

  #isFull(nowMs: number): Promise<boolean> {
    return fromPostgres(this.#repository.runs.isFull(this.#accountId, nowMs));
  }

  #remember(run: Run): void {
    if (this.#known.size >= RUNS_KNOWN_MAX) this.#known.clear();
    this.#known.set(run.id, run);
  }
}

function refused(code: ErrorCode, message: string): RunDecision {
  return { run: null, refusal: { code, message } };
}
