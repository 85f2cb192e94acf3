// Commands about vouchers: codes that give bonus credit, free credit or a plan.

import { writeFile } from "node:fs/promises";
import { endVouchers, issueVouchers, type Redeemed, redeem } from "../../accounts/vouchers.ts";
import { TIERS } from "../../core/access/limits.ts";
import {
  BATCH_PATTERN,
  BATCH_RULE,
  CODES_MAX,
  FREE_DAYS_MAX,
  USES_MAX,
  VOUCHER_COLUMNS,
  voucherLink,
} from "../../core/access/voucher-codes.ts";
import { dollars, toDecimal, toJsonNumber } from "../../core/money/money.ts";
import { GIVEN_MONTHS_MAX, PRICED_PLANS, planTitle } from "../../core/money/plan-terms.ts";
import { giftFields, giftText, type VoucherGift } from "../../core/money/voucher-gift.ts";
import { counted } from "../../core/text/counted.ts";
import { thrownMessage } from "../../core/text/error-message.ts";
import { listBatches, type VoucherBatch } from "../../store/payments/vouchers.ts";
import { type Command, type Input, UsageError } from "../command.ts";
import { notedChanges } from "../noted.ts";
import { table, utc } from "../print.ts";
import { idOf, nameAmong, positiveAmountOf, timeOf } from "../values.ts";

const NAME = new RegExp(BATCH_PATTERN);
const OWNER_ONLY = 0o600;
const TIER_NAMES = TIERS.map(({ name }) => name);

const create: Command = {
  name: "voucher create",
  positionals: ["NAME"],
  summary: "Make codes that give credit or a plan once to an account; they are shown only now",
  options: {
    usd: { value: "N", help: "the credit of each redemption" },
    plan: {
      value: "PLAN",
      help: "in place of credit: a plan for an application account, once per person",
    },
    months: { value: "N", help: `how many months of the plan (1, at most ${GIVEN_MONTHS_MAX})` },
    out: { value: "FILE", help: "the new CSV file that the codes are written to", required: true },
    "free-days": {
      value: "N",
      help: "free credit that ends so many days after a redemption, once per person (bonus credit)",
    },
    count: { value: "N", help: `how many codes (1, at most ${CODES_MAX})` },
    uses: { value: "N", help: "how many accounts may redeem each code (1)" },
    ends: { value: "ISO-TIME", help: "when they end (never)" },
    tiers: { value: "a,b", help: "only accounts of these tiers (all)" },
    "once-per-person": {
      value: null,
      help: "an account, an inbox, a network and a device redeem one code of the batch",
    },
  },
  prepare(input) {
    const batch = name(input);
    const gift = giftOf(input);
    const count = wholeOf(input, "count", CODES_MAX);
    const usesMax = wholeOf(input, "uses", USES_MAX);
    const endsAt = timeOf(input, "ends");
    const tiers = tiersOf(input);
    const oncePerPerson = input.values.has("once-per-person");
    const path = input.values.get("out") ?? "";
    const createdAt = new Date(input.nowMs);
    if (endsAt !== null && endsAt <= createdAt) {
      throw new UsageError(`--ends must be in the future, but is ${utc(endsAt)}`);
    }
    return async ({ administration, consoleOrigin }) => {
      const linkOf = (code: string) =>
        consoleOrigin === null ? "" : voucherLink(consoleOrigin, code);
      const terms = { batch, gift, count, usesMax, oncePerPerson };
      const order = { ...terms, endsAt, tiers, createdAt };
      await issueVouchers(administration, order, async (codes) => {
        const { amount, freeDays, plan, months } = giftFields(gift);
        const usd = amount === null ? "" : toDecimal(amount);
        const about = [freeDays ?? "", plan ?? "", months ?? ""];
        const rows = codes.map((code) => [code, usd, usesMax, linkOf(code), ...about]);
        const lines = [VOUCHER_COLUMNS, ...rows];
        await writeNew(path, lines.map((cells) => `${cells.join(",")}\r\n`).join(""));
      });
      const written = `${counted(count, "code")} of ${giftText(gift)}`;
      return {
        json: { batch, count, ...giftJson(gift), uses: usesMax, file: path },
        text: `Wrote ${written} to ${path} (secret), and nowhere else.`,
      };
    };
  },
};

const list: Command = {
  name: "voucher list",
  positionals: [],
  summary: "List the batches of vouchers, newest first",
  options: {},
  prepare:
    () =>
    async ({ database }) => {
      const batches = await listBatches(database);
      const rows = batches.map((one) => [
        one.batch,
        String(one.codes),
        giftText(one.gift),
        `${one.used} of ${one.usesMax}`,
        one.oncePerPerson ? "once per person" : "",
        endText(one),
      ]);
      const text = table([["batch", "codes", "each", "redeemed", "", "ends"], ...rows]);
      return {
        json: {
          batches: batches.map(({ gift, number: _, ...one }) => {
            const { amount, ...fields } = giftFields(gift);
            return { ...one, ...fields, usd: amount === null ? null : toJsonNumber(amount) };
          }),
        },
        text: batches.length === 0 ? "There are no vouchers." : text,
      };
    },
};

function endText({ endedAt, endsAt }: VoucherBatch): string {
  if (endedAt !== null) return `ended ${utc(endedAt)}`;
  return endsAt === null ? "never" : utc(endsAt);
}

const end: Command = {
  name: "voucher end",
  positionals: ["NAME"],
  summary: "End the codes of a batch; what was redeemed stays",
  options: {},
  prepare(input) {
    const batch = name(input);
    return async ({ administration }) => {
      const ended = await endVouchers(administration, { batch, now: new Date(input.nowMs) });
      return { json: { batch, ended }, text: `Ended ${counted(ended, "code")} of ${batch}.` };
    };
  },
};

const redeemCode: Command = {
  name: "voucher redeem",
  positionals: ["ID", "CODE"],
  summary: "Redeem a voucher for an account; a repeat gives nothing more",
  options: {},
  prepare(input) {
    const account = idOf(input, "account");
    const code = input.positionals[1] ?? "";
    return async ({ administration }) => {
      const deps = notedChanges(administration, "voucher_redeemed", "a voucher");
      const redeemed = await redeem(deps, account, { code });
      const { gift, until, operation, isRepeated, applied } = redeemed;
      const { amount_usd, plan } = giftJson(gift);
      const done = isRepeated ? "had redeemed it before" : "redeemed it";
      return {
        json: {
          account,
          amount_usd,
          free_until: gift.kind === "free" ? until : null,
          plan,
          plan_until: gift.kind === "plan" ? until : null,
          operation,
          repeated: isRepeated,
          applied,
        },
        text: `The account ${account} ${done}: ${redeemedText(redeemed)}.`,
      };
    };
  },
};

function redeemedText({ gift, until }: Redeemed): string {
  const end = until === null ? "" : utc(until);
  if (gift.kind === "plan") return `the plan ${planTitle(gift.plan)} until ${end}`;
  const credit = gift.kind === "bonus" ? "bonus credit" : `free credit that ends ${end}`;
  return `${dollars(gift.amount)} of ${credit}`;
}

export const voucherCommands: readonly Command[] = [create, list, end, redeemCode];

function name({ positionals }: Input): string {
  const [batch = ""] = positionals;
  if (NAME.test(batch)) return batch;
  throw new UsageError(`NAME ${BATCH_RULE}`);
}

/** Credit or a plan: exactly one of them. */
function giftOf(input: Input): VoucherGift {
  const { values } = input;
  const named = values.get("plan");
  if (named === undefined) {
    if (!values.has("usd")) throw new UsageError("--usd or --plan is required");
    if (values.has("months")) throw new UsageError("--months is for --plan");
    const amount = positiveAmountOf(input, "usd");
    if (!values.has("free-days")) return { kind: "bonus", amount };
    return { kind: "free", amount, days: wholeOf(input, "free-days", FREE_DAYS_MAX) };
  }
  for (const other of ["usd", "free-days", "tiers"]) {
    if (values.has(other)) throw new UsageError(`--${other} is for credit, and not for --plan`);
  }
  const plan = nameAmong(PRICED_PLANS, named);
  if (plan === undefined) {
    throw new UsageError(`--plan must be one of ${PRICED_PLANS.join(", ")}, but is '${named}'`);
  }
  const months = wholeOf(input, "months", GIVEN_MONTHS_MAX);
  return { kind: "plan", plan, months };
}

function giftJson(gift: VoucherGift) {
  const { amount, freeDays, plan, months } = giftFields(gift);
  const amount_usd = amount === null ? null : toJsonNumber(amount);
  return { amount_usd, free_days: freeDays, plan, months };
}

/** Writes a file that only its owner can read. One that exists may hold codes that are valid. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: OWNER_ONLY });
  } catch (error) {
    const reason = thrownMessage(error);
    throw new UsageError(`--out must be a new file that can be written: ${reason}`);
  }
}

function wholeOf({ values }: Input, option: string, most: number): number {
  const text = values.get(option) ?? "1";
  if (/^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text);
  throw new UsageError(`--${option} must be a whole number from 1 to ${most}, but is '${text}'`);
}

function tiersOf({ values }: Input) {
  const text = values.get("tiers");
  if (text === undefined) return null;
  return text.split(",").map((word) => {
    const tier = nameAmong(TIER_NAMES, word.trim());
    if (tier !== undefined) return tier;
    throw new UsageError(`--tiers must be of ${TIER_NAMES.join(", ")}, but has '${word}'`);
  });
}
