// `farebox drill`: tries on the running installation the failures that must never cost or give away
// money, with a scratch account (D-902).

import { join } from "node:path";
import { findAccount } from "../../accounts/administration.ts";
import {
  add,
  dollars,
  min,
  type NanoUsd,
  nano,
  subtract,
  toDecimal,
  usd,
  ZERO,
} from "../../core/money/money.ts";
import { thrownMessage } from "../../core/text/error-message.ts";
import { PROVIDER_KINDS, PROVIDERS } from "../../payments/providers.ts";
import { auditAccount } from "../operation/audit-command.ts";
import { checkFolder, checkStores, writeBackup } from "../operation/backup-commands.ts";
import type { Stores } from "../stores.ts";
import type { DrillStep, StepOutcome, StepVerdict } from "./drill-report.ts";
import {
  type Caller,
  chooseCall,
  type DrilledCall,
  forgeEvent,
  raceCalls,
} from "./gateway-calls.ts";
import { KillCommand } from "./kill-command.ts";
import { ScratchAccount } from "./scratch-account.ts";

export interface DrillTerms {
  /** The addresses of the installation, such as `http://127.0.0.1:8080`. */
  readonly addresses: readonly string[];
  /** The model to call; null for the cheapest one. */
  readonly model: string | null;
  readonly calls: number;
  /** A shell command that kills a process of the installation, at the tenth answer; or null. */
  readonly kill: string | null;
  /** A new folder for a backup; null: the backup is proven without being written. */
  readonly backup: string | null;
  /** The most that the scratch account ever has. */
  readonly max: NanoUsd;
  /** The time for which a step waits for the workers. */
  readonly waitMs: number;
  /** The longest time that `kill` may take. */
  readonly killMs: number;
  /** Stops the drill: its account is closed, and steps that were not tried are skipped. */
  readonly stop: AbortSignal;
}

/** The most calls that the balance of the race covers at once. */
const COVERED = 10n;

/** The program of the tool, for the process that is killed. */
const CLI = join(import.meta.dir, "../main.ts");

interface Drill {
  readonly stores: Stores;
  readonly terms: DrillTerms;
  readonly account: ScratchAccount;
  readonly caller: Caller;
  readonly killCommand: KillCommand;
}

const STOPPED: StepOutcome = { verdict: "skipped", words: "The drill was stopped before." };

/** The steps of a drill in words, for whoever decides whether to begin it. */
export function planOf(terms: Omit<DrillTerms, "stop">): string {
  const { addresses, calls, kill, backup, max } = terms;
  return [
    `The drill makes a scratch account with at most ${dollars(max)}, and touches no other.`,
    `1. It sends ${calls} calls at once to ${addresses.join(" and ")}, for ten of which the ` +
      "balance is enough. They go to a model, and cost you what that model costs.",
    ...(kill === null ? [] : [`   At the tenth answer it runs: ${kill}`]),
    "2. It starts a process of its own that holds money of the scratch account, kills it, and " +
      "waits for the workers to give the hold back, about a minute.",
    "3. It sends an event of payment with a forged signature.",
    backup === null
      ? "4. It proves what a backup would hold, and writes none (--backup FOLDER writes one)."
      : `4. It writes a backup into ${backup}, where it stays, and checks each file.`,
    "5. It audits the scratch account, revokes its key, takes back what is left, and closes the " +
      "account, also if you stop it. The rows stay in the ledger, marked as 'farebox drill'.",
  ].join("\n");
}

/**
 * Runs all steps. A step that fails does not end the drill. At the end of a drill, also of a
 * stopped one, the key is revoked, and the account is closed unless a call of it is still open.
 */
export async function runDrill(
  stores: Stores,
  terms: DrillTerms,
): Promise<{ readonly account: string; readonly steps: readonly DrillStep[] }> {
  const { addresses, kill, killMs, stop } = terms;
  const account = await ScratchAccount.open(stores);
  const caller = { addresses, key: account.apiKey.secret, stop };
  const killCommand = new KillCommand(kill, killMs, stop);
  const drill = { stores, terms, account, caller, killCommand };
  const steps: DrillStep[] = [];
  const end = async (name: string, ending: Promise<StepOutcome>) => {
    const outcome = await ending.catch(thrown);
    steps.push({ name, ...outcome });
    stores.warn(`${name}: ${outcome.verdict}`);
  };
  const step = async (name: string, run: () => Promise<StepOutcome>) => {
    await end(name, stop.aborted ? Promise.resolve(STOPPED) : run());
  };
  const choosing = chooseCall(caller, terms.model);
  // The first step tells why no call could be chosen, unless the drill was stopped meanwhile.
  await Promise.allSettled([choosing]);
  await step("Parallel calls on a small balance", () => race(drill, choosing));
  await step("The command of --kill", () => killCommand.outcome());
  await step("A killed process", () => killedProcess(drill));
  await step("A forged event of payment", () => forgedEvent(drill));
  await step("A checked backup", () => untilStopped(stop, checkedBackup(drill)));
  await step("The books of the scratch account", () => audited(drill));
  await end("The end of the scratch account", closed(drill));
  return { account: account.id, steps };
}

/** Waits for work that does not touch the scratch account, and so may go on without the drill. */
async function untilStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(stop.reason);
  stop.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    stop.removeEventListener("abort", leave);
  }
}

function thrown(error: unknown): StepOutcome {
  return { verdict: "failed", words: thrownMessage(error) };
}

/** Fails with all faults; without a fault it is a pass. */
function verdictOf(faults: readonly (string | null)[], passed: string): StepOutcome {
  const wrong = faults.filter((fault) => fault !== null);
  return wrong.length === 0
    ? { verdict: "passed", words: passed }
    : { verdict: "failed", words: `${wrong.join("\n")}\n${passed}` };
}

async function race(drill: Drill, choosing: Promise<DrilledCall>): Promise<StepOutcome> {
  const call = await choosing;
  const { terms, account, caller, killCommand } = drill;
  const balance = nano(call.hold * COVERED);
  if (balance > terms.max) {
    const words = `${COVERED} calls of ${call.model} hold ${dollars(balance)}`;
    throw new Error(`${words}, more than ${dollars(terms.max)}: name a cheaper one with --model`);
  }
  await account.setBalance(balance);
  const result = await raceCalls(caller, { ...terms, model: call.model }, (count) =>
    killCommand.answered(count),
  );
  await killCommand.outcome();
  const isReleased = await account.isReleased(terms.waitMs, terms.stop);
  const owned = await account.owned();
  const charged = subtract(balance, owned);
  const told = add(...result.costs);
  const { lost, refused } = result;
  // The process that made an answer may be killed before the caller has the answer.
  const chargedMax = nano(told + call.hold * BigInt(lost));
  const refusals = Object.entries(refused).map(([code, count]) => `${count} ${code}`);
  return verdictOf(
    [
      result.costs.length > 0 ? null : "No call was answered.",
      told <= balance ? null : `Answers cost ${dollars(told)}; there was ${dollars(balance)}.`,
      told <= charged ? null : `Answers cost ${dollars(told)}; ${dollars(charged)} were charged.`,
      charged <= chargedMax
        ? null
        : `${dollars(charged)} were charged; answers say ${dollars(told)}, and ${lost} calls ` +
          `without an answer may cost ${dollars(call.hold)} each.`,
      owned >= ZERO ? null : `The balance is ${dollars(owned)}.`,
      isReleased ? null : "Holds of ended calls were not given back.",
    ],
    `${terms.calls} calls of ${call.model} at once on ${dollars(balance)}: ` +
      `${result.costs.length} answered for ${dollars(told)}, ` +
      `${refusals.length === 0 ? "none refused" : refusals.join(", ")}, ${lost} without an ` +
      `answer; ${dollars(charged)} charged, ${dollars(owned)} left.`,
  );
}

async function killedProcess(drill: Drill): Promise<StepOutcome> {
  const { stores, terms, account } = drill;
  const amount = min(usd("0.001"), terms.max);
  await account.setBalance(amount);
  const { environment } = stores;
  const child = Bun.spawn(
    [
      process.execPath,
      CLI,
      "drill",
      "hold",
      account.id,
      account.apiKey.id,
      "--usd",
      toDecimal(amount),
    ],
    {
      ...(environment !== undefined && { env: { ...environment } }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    },
  );
  try {
    // The process says one line when it has the hold, and then waits for its end.
    const { done: hasFailed } = await child.stdout.getReader().read();
    if (hasFailed) throw new Error("The process of the drill could not take its hold");
    const { paid, heldPaid } = await account.balances();
    child.kill("SIGKILL");
    await child.exited;
    const isReleased = await account.isReleased(terms.waitMs, terms.stop);
    const after = await account.balances();
    return verdictOf(
      [
        heldPaid === amount ? null : `The process held ${dollars(heldPaid)}.`,
        paid === ZERO ? null : `${dollars(paid)} could be spent although all was held.`,
        isReleased
          ? null
          : "The hold is still there: a worker gives it back about a minute after a process " +
            "died. Does one run?",
        !isReleased || after.paid === amount
          ? null
          : `${dollars(after.paid)} came back of ${dollars(amount)}.`,
      ],
      `A process held ${dollars(amount)} and was killed; afterwards ${dollars(after.paid)} could ` +
        "be spent.",
    );
  } finally {
    child.kill("SIGKILL");
  }
}

/** An event that says that a top-up of the scratch account was paid. */
function paidEvent(account: string): object {
  const object = {
    id: "cs_drill_forged",
    object: "checkout.session",
    payment_status: "paid",
    amount_total: 100_000,
    currency: "usd",
    client_reference_id: account,
    metadata: { account },
  };
  return {
    id: "evt_drill_forged",
    object: "event",
    type: "checkout.session.completed",
    data: { object },
  };
}

async function forgedEvent({ stores, terms, account }: Drill): Promise<StepOutcome> {
  const { stop } = terms;
  const before = await account.owned();
  const nowMs = stores.administration.now();
  const faults: (string | null)[] = [];
  const answers: string[] = [];
  for (const kind of PROVIDER_KINDS) {
    const { path, signatureHeader: header } = PROVIDERS[kind].webhook;
    for (const address of terms.addresses) {
      const event = paidEvent(account.id);
      const forged = { path, header, event, nowMs, stop };
      const { isTaken, status } = await forgeEvent(address, forged);
      answers.push(`${address}${path} answered ${status}`);
      if (isTaken) faults.push(`${address}${path} took a forged event.`);
    }
  }
  const after = await account.owned();
  faults.push(after === before ? null : `The balance went to ${dollars(after)}.`);
  return verdictOf(faults, `${answers.join("; ")}; the balance stayed at ${dollars(before)}.`);
}

async function checkedBackup({ stores, terms }: Drill): Promise<StepOutcome> {
  const { backup } = terms;
  if (backup !== null) await writeBackup(backup, stores);
  const { text, failed } = backup === null ? await checkStores(stores) : await checkFolder(backup);
  return { verdict: passedUnless(failed), words: text ?? "" };
}

async function audited({ stores, account }: Drill): Promise<StepOutcome> {
  const row = await findAccount(stores.administration, account.id);
  const { text, failed } = await auditAccount(stores, row);
  return { verdict: passedUnless(failed), words: text ?? "" };
}

async function closed({ account, terms }: Drill): Promise<StepOutcome> {
  await account.close(terms.waitMs);
  const words = `${account.id} is closed, its key revoked; its entries stay in the ledger.`;
  return { verdict: "passed", words };
}

function passedUnless(failed: boolean | undefined): StepVerdict {
  return failed === true ? "failed" : "passed";
}
