// Commands about operations that Redis does not apply: they list them, set one aside, and book it
// again.

import { bookSetAside, type OperationPlace, setAside } from "../accounts/set-aside.ts";
import { dollars, toJsonNumber } from "../core/money/money.ts";
import { type OpenOperation, openOperations } from "../store/ledger/set-aside.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { notedChanges } from "./noted.ts";
import { table, utc } from "./print.ts";
import type { Stores } from "./stores.ts";
import { idOf, reasonOf } from "./values.ts";

/** An operation that has waited longer is listed. */
export const OPERATION_WAITS_MS = 30_000;

const open: Command = {
  name: "operation open",
  positionals: [],
  summary: "List changes of balances that are set aside, or that the ledger does not have yet",
  options: {},
  prepare: () => async (stores) => {
    const found = await openOperationsOf(stores);
    const text = found.length === 0 ? "No change of a balance waits." : tableOf(found);
    return { json: { open: found.map(toJson) }, text };
  },
};

const aside: Command = {
  name: "operation set-aside",
  positionals: ["ID", "NUMBER"],
  summary: "Let a change of a balance that Redis can never take change nothing",
  options: { reason: { value: "TEXT", help: "the reason, which is recorded", required: true } },
  prepare(input) {
    const place = placeOf(input);
    const reason = reasonOf(input, "reason");
    return async ({ administration, actors }) => {
      const about = `operation ${place.number} set aside (${reason})`;
      const noted = notedChanges(administration, "operator_set_aside", about);
      const { applied } = await setAside({ ...noted, actors }, place, reason);
      return {
        json: { ...jsonOf(place), reason, applied },
        text:
          `Operation ${place.number} of ${place.accountId} is set aside and changes nothing. ` +
          "When there is room: farebox operation book-again.",
      };
    };
  },
};

const again: Command = {
  name: "operation book-again",
  positionals: ["ID", "NUMBER"],
  summary: "Book a change of a balance that was set aside, now that there is room for it",
  options: {},
  prepare(input) {
    const place = placeOf(input);
    return async ({ administration, flush }) => {
      // The flush comes first: an operation is known to have changed nothing only if the ledger is
      // complete.
      await flush();
      const about = `operation ${place.number} booked again`;
      const noted = notedChanges(administration, "operator_book_again", about);
      const { applied, operation } = await bookSetAside(noted, place);
      const before = `Operation ${place.number} of ${place.accountId}`;
      if (operation === null) {
        return {
          json: { ...jsonOf(place), booked_as: null, applied },
          text: `${before} was free credit whose time is over: nothing is booked.`,
        };
      }
      const { number, kind, amount } = operation;
      return {
        json: {
          ...jsonOf(place),
          booked_as: number,
          kind,
          amount_usd: toJsonNumber(amount),
          applied,
        },
        text: `${before}: booked again as ${number}.`,
      };
    };
  },
};

/** Operations that have waited too long, and operations that are set aside. */
export async function openOperationsOf({
  database,
  administration,
}: Stores): Promise<OpenOperation[]> {
  return await openOperations(database, new Date(administration.now() - OPERATION_WAITS_MS));
}

function placeOf(input: Input): OperationPlace {
  const accountId = idOf(input, "account");
  const word = input.positionals[1] ?? "";
  if (!/^[1-9]\d{0,8}$/.test(word)) throw new UsageError(`NUMBER must be a number, not '${word}'`);
  return { accountId, number: Number(word) };
}

function jsonOf({ accountId, number }: OperationPlace) {
  return { account: accountId, operation: number };
}

function toJson({ kind, amount, createdAt, isSetAside, ...place }: OpenOperation) {
  return {
    ...jsonOf(place),
    kind,
    amount_usd: toJsonNumber(amount),
    created_at: createdAt,
    set_aside: isSetAside,
  };
}

function tableOf(operations: readonly OpenOperation[]): string {
  const rows = operations.map(({ accountId, number, kind, amount, createdAt, isSetAside }) => [
    accountId,
    `${number}`,
    kind,
    dollars(amount),
    utc(createdAt),
    isSetAside ? "set aside" : "waits",
  ]);
  return table([["account", "operation", "kind", "amount", "since", "state"], ...rows]);
}

export const operationCommands: readonly Command[] = [open, aside, again];
