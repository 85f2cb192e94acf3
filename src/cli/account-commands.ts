import { type AccountAction, changeAccount, createAccount } from "../accounts/administration.ts";
import { type Adjusted, adjustBalance, forgiveOwed } from "../accounts/payments.ts";
import { PLAN_NAMES } from "../core/limits.ts";
import { subtract, toJsonNumber, ZERO } from "../core/money.ts";
import { showAccount } from "./account-show.ts";
import { type Answer, type Command, UsageError } from "./command.ts";
import { dollars } from "./print.ts";
import {
  amountOf,
  emailOf,
  idOf,
  nameAmong,
  oneOf,
  positiveAmountOf,
  reasonOf,
  referenceOf,
  signedAmountOf,
} from "./values.ts";

const create: Command = {
  name: "account create",
  words: [],
  summary:
    "Make an account: one of the Gateway comes with the free credit, one of the " +
    "Application API has a plan",
  options: {
    email: { value: "E", help: "how to reach the account holder" },
    surface: { value: "gateway|application", help: "which surface it is for (gateway)" },
    plan: { value: PLAN_NAMES.join("|"), help: "of an application account (free)" },
  },
  plan(input) {
    const email = emailOf(input, "email");
    const surface = oneOf(input, "surface", ["gateway", "application"], "gateway");
    if (surface === "gateway" && input.values.has("plan")) {
      throw new UsageError("--plan is of an application account: add --surface application");
    }
    const plan = surface === "gateway" ? null : oneOf(input, "plan", PLAN_NAMES, "free");
    return async ({ administration }) => {
      const account = { surface, email, ...(plan !== null && { plan }) };
      const { id, applied } = await createAccount(administration, account);
      return {
        json: { id, surface, plan, email, applied },
        text: `Account ${id} is made. A key: farebox key create ${id} --scopes models`,
      };
    };
  },
};

const show: Command = {
  name: "account show",
  words: ["ID"],
  summary: "Show an account: state, tier, balances, month, keys, payments",
  options: {},
  plan(input) {
    const id = idOf(input, "account");
    return (stores) => showAccount(stores, id);
  },
};

function stateCommand(kind: "suspend" | "resume" | "close", summary: string): Command {
  return {
    name: `account ${kind}`,
    words: ["ID"],
    summary,
    options: {},
    plan(input) {
      const id = idOf(input, "account");
      return change(id, { kind });
    },
  };
}

const contract: Command = {
  name: "account contract",
  words: ["ID", "enterprise|none"],
  summary: "Set or end an Enterprise contract, which decides the tier",
  options: {},
  plan(input) {
    const id = idOf(input, "account");
    const word = input.words[1];
    const name = nameAmong(["enterprise", "none"], word);
    if (name === undefined) {
      throw new UsageError(`The contract must be 'enterprise' or 'none', but is '${word}'`);
    }
    return change(id, { kind: "contract", contract: name === "none" ? null : name });
  },
};

const plan: Command = {
  name: "account plan",
  words: ["ID", PLAN_NAMES.join("|")],
  summary:
    "Set the plan of an application account: its requests a minute, and the monthly " +
    "allowance of the Free plan",
  options: {},
  plan(input) {
    const id = idOf(input, "account");
    const word = input.words[1];
    const name = nameAmong(PLAN_NAMES, word);
    if (name === undefined) {
      throw new UsageError(`The plan must be one of ${PLAN_NAMES.join(", ")}, but is '${word}'`);
    }
    return change(id, { kind: "plan", plan: name });
  },
};

const cap: Command = {
  name: "account cap",
  words: ["ID"],
  summary: "Set the account's own monthly cap, below that of its tier",
  options: { usd: { value: "N|none", help: "USD a month, or none", required: true } },
  plan(input) {
    const id = idOf(input, "account");
    const isNone = nameAmong(["none"], input.values.get("usd")) !== undefined;
    return change(id, { kind: "cap", cap: isNone ? null : amountOf(input, "usd") });
  },
};

const REASON = { value: "TEXT", help: "why, for the books", required: true };
const REFERENCE = { value: "REF", help: "with the same one nothing is done twice" };

const adjust: Command = {
  name: "account adjust",
  words: ["ID"],
  summary: "Add to the paid balance, or take what is available of it: no debt is made",
  options: {
    usd: { value: "[-]N", help: "the amount, to nine decimals", required: true },
    reason: REASON,
    id: REFERENCE,
  },
  plan(input) {
    const account = idOf(input, "account");
    const amount = signedAmountOf(input, "usd");
    const [reason, reference] = [reasonOf(input, "reason"), referenceOf(input, "id")];
    return async ({ administration }) => {
      const terms = { amount, reason, reference };
      const adjusted = await adjustBalance(administration, account, terms);
      const booked = adjusted.operation.amount;
      const text =
        booked > 0n
          ? `${dollars(booked)} added to the paid balance`
          : `at most ${dollars(subtract(ZERO, booked))} taken from the paid balance`;
      return adjustedAnswer(adjusted, text);
    };
  },
};

const forgive: Command = {
  name: "account forgive",
  words: ["ID"],
  summary: "Forgive what an account owes of reversed payments, up to an amount",
  options: {
    usd: { value: "N", help: "the most to forgive", required: true },
    reason: REASON,
    id: REFERENCE,
  },
  plan(input) {
    const account = idOf(input, "account");
    const amount = positiveAmountOf(input, "usd");
    const [reason, reference] = [reasonOf(input, "reason"), referenceOf(input, "id")];
    return async ({ administration }) => {
      const terms = { amount, reason, reference };
      const forgiven = await forgiveOwed(administration, account, terms);
      const text = `at most ${dollars(forgiven.operation.amount)} of what is owed is forgiven`;
      return adjustedAnswer(forgiven, text);
    };
  },
};

function adjustedAnswer({ id, operation, applied }: Adjusted, text: string): Answer {
  const { number, kind, amount, reason } = operation;
  const json = { id, operation: number, kind, amount_usd: toJsonNumber(amount), reason, applied };
  return { json, text: `Account ${id}: ${text} (operation ${number}).` };
}

function change(id: string, action: AccountAction): ReturnType<Command["plan"]> {
  return async ({ administration }) => {
    const { account, applied } = await changeAccount(administration, id, action);
    const ownCap = account.ownCap;
    const json = {
      id,
      state: account.state,
      state_reason: account.stateReason,
      contract: account.contract,
      plan: account.plan,
      own_cap_usd:
        ownCap === null ? null : toJsonNumber(ownCap as Parameters<typeof toJsonNumber>[0]),
      applied,
    };
    return { json, text: `Account ${id}: ${outcomeText(action, account.state)}` };
  };
}

function outcomeText(action: AccountAction, state: string): string {
  switch (action.kind) {
    case "contract":
      return `the contract is ${action.contract ?? "none"}.`;
    case "plan":
      return `the plan is ${action.plan}.`;
    case "cap":
      return action.cap === null ? "no own cap." : `the own cap is ${dollars(action.cap)} a month.`;
    case "close":
      return "closed, and its keys are revoked.";
    default:
      return `${state}.`;
  }
}

export const accountCommands: readonly Command[] = [
  create,
  show,
  stateCommand("suspend", "Refuse every call of an account; its keys stay"),
  stateCommand("resume", "Let an account that an operator suspended call again"),
  stateCommand("close", "Close an account for good and revoke its keys"),
  contract,
  plan,
  cap,
  adjust,
  forgive,
];
