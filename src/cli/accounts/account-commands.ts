import {
  type AccountAction,
  changeAccount,
  createAccount,
  grantFree,
} from "../../accounts/administration.ts";
import { closeAccount } from "../../accounts/closing.ts";
import { type Adjusted, adjustBalance, forgiveOwed } from "../../accounts/payments.ts";
import { CONTRACTS, PLAN_NAMES } from "../../core/access/limits.ts";
import { dollars, toJsonNumber, ZERO } from "../../core/money/money.ts";
import { asciiDomain } from "../../core/text/mail-address.ts";
import { type Answer, type Command, UsageError } from "../command.ts";
import { notedChanges } from "../noted.ts";
import {
  amountOrNoneOf,
  emailOf,
  idOf,
  nameAmong,
  positiveAmountOf,
  reasonOf,
  referenceOf,
  signedAmountOf,
  wordOf,
} from "../values.ts";
import { limitsCommand } from "./account-limits.ts";
import { showAccount } from "./account-show.ts";
import { activityOf, adjustmentText, forgivenText, outcomeText } from "./account-texts.ts";

const create: Command = {
  name: "account create",
  positionals: [],
  summary:
    "Create an account: a Gateway account gets the free credit, an application account has a plan",
  options: {
    email: { value: "E", help: "the account holder's email address" },
    surface: { value: "gateway|application", help: "the surface of the account (gateway)" },
    plan: { value: PLAN_NAMES.join("|"), help: "the plan of an application account (free)" },
  },
  prepare(input) {
    const email = emailOf(input, "email");
    const surface = wordOf(input, "surface", {
      words: ["gateway", "application"],
      fallback: "gateway",
    });
    if (surface === "gateway" && input.values.has("plan")) {
      throw new UsageError("--plan needs --surface application: a Gateway account has no plan");
    }
    const plan =
      surface === "gateway" ? null : wordOf(input, "plan", { words: PLAN_NAMES, fallback: "free" });
    return async ({ administration }) => {
      const account = { surface, email, ...(plan !== null && { plan }) };
      const deps = notedChanges(administration, "account_opened", email ?? surface);
      const { id, applied } = await createAccount(deps, account);
      return {
        json: { id, surface, plan, email, applied },
        text: `Created account ${id}. Next, create a key: farebox key create ${id} --scopes models`,
      };
    };
  },
};

const show: Command = {
  name: "account show",
  positionals: ["ID"],
  summary: "Show an account: state, tier, balances, spending of the month, keys, payments",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return (stores) => showAccount(stores, id);
  },
};

function stateCommand(kind: "suspend" | "resume", summary: string): Command {
  return {
    name: `account ${kind}`,
    positionals: ["ID"],
    summary,
    options: {},
    prepare(input) {
      const id = idOf(input, "account");
      return change(id, { kind });
    },
  };
}

const close: Command = {
  name: "account close",
  positionals: ["ID"],
  summary: "Close an account permanently and revoke its keys; not while calls are open",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration, actors }) => {
      const deps = notedChanges(administration, "operator_close", "closed permanently");
      const closed = await closeAccount({ ...deps, wallets: actors }, id);
      const { account, applied, paidLeft } = closed;
      const left =
        paidLeft === ZERO
          ? "No paid balance is left."
          : `${dollars(paidLeft)} of paid balance are left; you can refund them ` +
            "(farebox topup refund, farebox payment refund).";
      return {
        json: {
          id,
          state: account.state,
          state_reason: account.stateReason,
          applied,
          paid_left_usd: toJsonNumber(paidLeft),
        },
        text: `Account ${id}: closed; its keys are revoked. ${left}`,
      };
    };
  },
};

const contract: Command = {
  name: "account contract",
  positionals: ["ID", "enterprise|none"],
  summary: "Set or end an Enterprise contract, which decides the tier",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    const word = input.positionals[1];
    const name = nameAmong(CONTRACTS, word);
    if (name === undefined) {
      throw new UsageError(`The contract must be 'enterprise' or 'none', but is '${word}'`);
    }
    return change(id, { kind: "contract", contract: name === "none" ? null : name });
  },
};

const plan: Command = {
  name: "account plan",
  positionals: ["ID", PLAN_NAMES.join("|")],
  summary:
    "Set the plan of an application account: it decides the requests per minute and the " +
    "monthly allowance",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    const word = input.positionals[1];
    const name = nameAmong(PLAN_NAMES, word);
    if (name === undefined) {
      throw new UsageError(`The plan must be one of ${PLAN_NAMES.join(", ")}, but is '${word}'`);
    }
    return change(id, { kind: "plan", plan: name });
  },
};

const cap: Command = {
  name: "account cap",
  positionals: ["ID"],
  summary: "Set the account's own monthly cap; the cap of its tier applies too",
  options: { usd: { value: "N|none", help: "USD a month, or none", required: true } },
  prepare(input) {
    const id = idOf(input, "account");
    return change(id, { kind: "cap", cap: amountOrNoneOf(input, "usd") });
  },
};

const domain: Command = {
  name: "account domain",
  positionals: ["ID", "DOMAIN|none"],
  summary: "Set the domain that the footer of the account's mail names",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    const word = input.positionals[1] ?? "";
    if (word === "none") return change(id, { kind: "domain", domain: null });
    const name = asciiDomain(word);
    if (name === null) throw new UsageError(`'${word}' is no domain such as example.com`);
    return change(id, { kind: "domain", domain: name });
  },
};

const grant: Command = {
  name: "grant free",
  positionals: ["ID"],
  summary: "Give a Gateway account the free credit that it did not get by signing up",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration }) => {
      const deps = notedChanges(administration, "operator_grant_free", "free credit granted");
      const { applied } = await grantFree(deps, id);
      return { json: { id, granted: true, applied }, text: `The account ${id} has free credit.` };
    };
  },
};

const REASON = { value: "TEXT", help: "the reason, which is recorded", required: true };
const REFERENCE = { value: "REF", help: "your own id; a repeat with it changes nothing" };

const adjust: Command = {
  name: "account adjust",
  positionals: ["ID"],
  summary: "Add to the paid balance, or take from it: at most what is available",
  options: {
    usd: { value: "[-]N", help: "the amount, with up to nine decimals", required: true },
    reason: REASON,
    id: REFERENCE,
  },
  prepare(input) {
    const account = idOf(input, "account");
    const amount = signedAmountOf(input, "usd");
    const [reason, reference] = [reasonOf(input, "reason"), referenceOf(input, "id")];
    return async ({ administration }) => {
      const about = `${adjustmentText(amount)} (${reason})`;
      const deps = notedChanges(administration, "operator_adjust", about);
      const adjusted = await adjustBalance(deps, account, { amount, reason, reference });
      return adjustmentAnswer(adjusted, adjustmentText(adjusted.operation.amount));
    };
  },
};

const forgive: Command = {
  name: "account forgive",
  positionals: ["ID"],
  summary: "Forgive what an account owes for reversed payments, up to an amount",
  options: {
    usd: { value: "N", help: "the most to forgive", required: true },
    reason: REASON,
    id: REFERENCE,
  },
  prepare(input) {
    const account = idOf(input, "account");
    const amount = positiveAmountOf(input, "usd");
    const [reason, reference] = [reasonOf(input, "reason"), referenceOf(input, "id")];
    return async ({ administration }) => {
      const about = `${forgivenText(amount)} (${reason})`;
      const deps = notedChanges(administration, "operator_forgive", about);
      const forgiven = await forgiveOwed(deps, account, { amount, reason, reference });
      return adjustmentAnswer(forgiven, forgivenText(forgiven.operation.amount));
    };
  },
};

function adjustmentAnswer({ id, operation, applied }: Adjusted, text: string): Answer {
  const { number, kind, amount, reason } = operation;
  const json = { id, operation: number, kind, amount_usd: toJsonNumber(amount), reason, applied };
  return { json, text: `Account ${id}: ${text} (operation ${number}).` };
}

function change(id: string, action: AccountAction): ReturnType<Command["prepare"]> {
  return async ({ administration }) => {
    const deps = notedChanges(administration, ...activityOf(action));
    const { account, applied } = await changeAccount(deps, id, action);
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
    return { json, text: `Account ${id}: ${outcomeText(action, account)}` };
  };
}

export const accountCommands: readonly Command[] = [
  create,
  show,
  limitsCommand,
  stateCommand("suspend", "Suspend an account: every call is refused, the keys stay"),
  stateCommand("resume", "Resume an account that an operator suspended"),
  close,
  contract,
  plan,
  cap,
  adjust,
  forgive,
  domain,
  grant,
];
