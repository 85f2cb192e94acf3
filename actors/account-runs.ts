// The runs of an account, as far as this process knows them. They are known for one version of the
// access document: a change of a run makes another version, as every change does (D-788). The
// deletion of a run long after its end makes none, so such a run is read again (D-901).

import type { AccessRefusal } from "../src/core/access/key-limits.ts";
import {
  type NamedRun,
  OPEN_RUNS_MAX,
  RUN_KEPT_MS_MIN,
  type Run,
  runRefusal,
} from "../src/core/access/runs.ts";
import type { ErrorCode } from "../src/core/errors.ts";
import { type NanoUsd, toDecimal } from "../src/core/money/money.ts";
import { OpenWork } from "../src/core/open-work.ts";
import type { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import type { Asking } from "./account.ts";
import { fromPostgres } from "./scripts/script-runner.ts";

/** The most runs of an account that a process knows. */
export const RUNS_KNOWN_MAX = 1_000;

/** A call that names a run. */
interface RunCall {
  readonly named: NamedRun;
  readonly asking: Pick<Asking, "call" | "terms">;
  readonly nowMs: number;
  readonly isQuote: boolean;
}

/** The run of a call, if it has begun, and the refusal of the call by it. */
export interface RunDecision {
  readonly run: Run | null;
  /** For a quote, the amount that a run that has not begun would let one call hold. */
  readonly room?: NanoUsd;
  readonly refusal: AccessRefusal | null;
}

export class AccountRuns {
  readonly #accountId: string;
  readonly #repository: WalletRepository;
  readonly #known = new Map<string, Run>();
  /** Calls at the same time share one reading of a run, and its begin. */
  readonly #reading = new OpenWork<Run | null>();

  constructor(accountId: string, repository: WalletRepository) {
    this.#accountId = accountId;
    this.#repository = repository;
  }

  /** Finds the run of a call, and begins it if need be. A quote begins none. */
  async decide(call: RunCall): Promise<RunDecision> {
    const { named, nowMs } = call;
    const known = this.#known.get(named.id);
    if (known !== undefined && nowMs < known.endsAtMs + RUN_KEPT_MS_MIN) {
      return { run: known, refusal: runRefusal(known, nowMs) };
    }
    const found = await this.#read(named.id);
    if (found === null && (named.max === null || call.isQuote)) return notBegun(call);
    const run = found ?? (await this.#begin(call));
    if (run === null) {
      const message = `The account has ${OPEN_RUNS_MAX} runs that have not ended`;
      return refused("too_many_budgets", message);
    }
    if (this.#known.size >= RUNS_KNOWN_MAX) this.#known.clear();
    this.#known.set(run.id, run);
    return { run, refusal: runRefusal(run, nowMs) };
  }

  #read(id: string): Promise<Run | null> {
    const read = () => fromPostgres(this.#repository.runs.read(this.#accountId, id));
    return this.#reading.share(id, read);
  }

  /** Null if the account has too many open runs. */
  #begin({ named, asking, nowMs }: RunCall): Promise<Run | null> {
    const { keyId } = asking.call.identity;
    const { id, max: amount, seconds } = named;
    if (amount === null) throw new Error(`The run ${id} has no amount`);
    const run = { id, keyId, amount, seconds, nowMs };
    const begin = () => fromPostgres(this.#repository.runs.begin(this.#accountId, run));
    return this.#reading.share(`begin ${id}`, begin);
  }
}

/** The decision on a call that can begin no run: by its amount, for a quote. */
function notBegun({ named, asking }: RunCall): RunDecision {
  const { id, max } = named;
  const { bound } = asking.terms;
  if (max === null) {
    const problem = "names no amount, and its run has not begun: begin it with '; max-usd=2.00'";
    return refused("invalid_parameter", `The header x-svc-run ${problem}`);
  }
  if (bound <= max) return { run: null, room: max, refusal: null };
  const cost = `The call may cost up to $${toDecimal(bound)}`;
  const message = `${cost}; the run ${id} begins with $${toDecimal(max)}`;
  return { ...refused("run_budget_exceeded", message), room: max };
}

function refused(code: ErrorCode, message: string): RunDecision {
  return { run: null, refusal: { code, message } };
}
