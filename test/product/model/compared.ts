// The frame of tests that compare scripts with a model of one matter: a decision that differs from
// the model's is a disagreement, and every fault that is put into the scripts must lead to one.

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Account, Asking, Decision, Hold, QuotedDecision } from "../../../actors/account.ts";
import { SCRIPT_LIBRARY, type ScriptLibrary } from "../../../actors/scripts/script-library.ts";
import type { CallLimit } from "../../../src/core/access/budgets.ts";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { nano, ofCents, ZERO } from "../../../src/core/money/money.ts";
import { messageIn, verdictIn } from "../../support/stores/verdicts.ts";
import { DONE } from "../../support/stores/world.ts";

/** A fault in scripts: in the source of each, `good` is replaced by `bad`. */
export interface Fault {
  readonly good: string;
  readonly bad: string;
}

/** A fault, and the promise that it breaks. */
export interface Mutant extends Fault {
  readonly breaks: string;
}

export class Disagreement extends Error {
  override readonly name = "Disagreement";
}

/**
 * Compares a decision with the verdict of the model.
 * @throws Disagreement
 */
export function compare(decision: Decision, expected: string): void {
  const verdict = verdictIn(decision);
  if (verdict !== expected) {
    throw new Disagreement(`The model says ${expected}, Farebox ${verdict}`);
  }
}

/**
 * Quotes a call and then makes it. The quote must say what the call gets, in the same words, and
 * must have changed nothing. The limit that a quote names must be the one that refuses a call above
 * what is left.
 * @throws Disagreement
 */
export async function admitQuoted(
  actor: Pick<Account, "admit" | "quote">,
  asked: Asking,
): Promise<Decision> {
  const quote = await actor.quote(asked);
  await compareLimit(actor, asked, quote);
  const decision = await actor.admit(asked);
  const { refusal, mayFit, spendable } = quote;
  const quoted = refusal === null ? "admitted" : `${refusal.code}: ${refusal.message}`;
  const verdict =
    decision.verdict === "refused"
      ? `${verdictIn(decision)}: ${messageIn(decision)}`
      : decision.verdict;
  if (verdict !== quoted) {
    throw new Disagreement(`The quote says ${quoted}, the call got ${verdict}`);
  }
  const { bound } = asked.terms;
  if (bound > spendable ? refusal === null : mayFit) {
    throw new Disagreement(`The quote of ${bound} says ${quoted}, and ${spendable} to be left`);
  }
  return decision;
}

const CODES: Readonly<Record<CallLimit, ErrorCode>> = {
  key_budget: "key_budget_exceeded",
  account_budget: "account_budget_exceeded",
  run_budget: "run_budget_exceeded",
  end_user_budget: "end_user_budget_exceeded",
  own_cap: "monthly_limit_reached",
  tier_cap: "monthly_limit_reached",
  balance: "insufficient_credits",
};

async function compareLimit(
  actor: Pick<Account, "quote">,
  asked: Asking,
  { refusal: first, mayFit, limit, budget, spendable }: QuotedDecision,
): Promise<void> {
  // A refusal about another matter comes before those about money.
  if (first !== null && !mayFit) return;
  if (budget !== undefined && budget.left !== spendable) {
    throw new Disagreement(`The quote says ${spendable} to be left, its budget ${budget.left}`);
  }
  const terms = { ...asked.terms, bound: nano(spendable + 1n) };
  const { refusal } = await actor.quote({ ...asked, terms });
  if (refusal?.code !== CODES[limit]) {
    throw new Disagreement(`The quote names ${limit}; one nano-dollar more: ${refusal?.code}`);
  }
}

/** A call that both the model and Farebox have open. */
export interface OpenCall {
  readonly hold: Hold;
  /** The model's call; its hold, or its charge once it has ended, in cents. */
  readonly counted: { cents: number };
}

/** Ends a call at this number of quarters of its hold; at none, the hold is released. */
export async function endAt({ hold, counted }: OpenCall, quarters: number): Promise<void> {
  counted.cents = Math.floor((counted.cents * quarters) / 4);
  if (quarters === 0) await hold.release(DONE);
  else await hold.settle(counted.cents === 0 ? ZERO : ofCents(counted.cents), DONE);
}

/** Random lists of commands. */
export interface Lists<Command> {
  readonly command: fc.Arbitrary<Command>;
  /** The number of commands in a list. */
  readonly length: number;
  /** The number of lists. */
  readonly runs: number;
  readonly seed: number;
}

/** Plays one list of commands after the other. */
export async function playLists<Command>(
  { command, length, runs, seed }: Lists<Command>,
  play: (commands: readonly Command[]) => Promise<void>,
): Promise<void> {
  const lists = fc.array(command, { minLength: length, maxLength: length });
  for (const list of fc.sample(lists, { seed, numRuns: runs })) await play(list);
}

/** The scripts with one more fault. */
export function libraryWith(library: ScriptLibrary, { good, bad }: Fault): ScriptLibrary {
  const faulty = library.changed((lua) => lua.replace(good, () => bad));
  if (faulty.name === library.name) throw new Error(`No script has '${good}' to be made faulty`);
  return faulty;
}

/** A test for each fault: the comparison of the faulty scripts must end in a disagreement. */
export function testMutants(
  mutants: readonly Mutant[],
  compareAll: (library: ScriptLibrary) => Promise<void>,
): void {
  for (const mutant of mutants) {
    test(`a script that breaks this is caught: ${mutant.breaks}`, async () => {
      const comparing = compareAll(libraryWith(SCRIPT_LIBRARY, mutant));
      await expect(comparing).rejects.toBeInstanceOf(Disagreement);
    });
  }
}
