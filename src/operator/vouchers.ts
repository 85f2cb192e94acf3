// Vouchers: their batches, a new one, and the end of one. The page makes the codes and keeps them
// for the operator before they are valid, because the database has only their digests (D-915).

import { endVouchers, registerVouchers, type VoucherTerms } from "../accounts/vouchers.ts";
import { TIERS } from "../core/access/limits.ts";
import {
  BATCH_PATTERN,
  BATCH_RULE,
  CODES_MAX,
  FREE_DAYS_MAX,
  plainCode,
  USES_MAX,
} from "../core/access/voucher-codes.ts";
import { codesDigest } from "../core/access/voucher-digest.ts";
import { GIVEN_MONTHS_MAX, PRICED_PLANS, type PricedPlan } from "../core/money/plan-terms.ts";
import { giftText, type VoucherGift } from "../core/money/voucher-gift.ts";
import { futureFrom, positiveAmountFrom, timeFrom } from "../core/text/field-rules.ts";
import { invalid, readField } from "../http/body/checks.ts";
import { time, usdSchema } from "../http/console/fields.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { oneOf, optional, Type, text, whole } from "../http/schema.ts";
import { VOUCHERS } from "../readings/offers/vouchers.ts";
import { actOnce } from "./act.ts";
import { operatorAct } from "./act-endpoint.ts";
import { type Context, OPERATOR_PATH } from "./deps.ts";

const CODE_CHARACTERS_MAX = 64;
/** Codes with their quotes and hyphens, and the other fields. */
const BODY_BYTES_MAX = 256 * 1_024;

const BATCH = text({
  pattern: BATCH_PATTERN,
  must: BATCH_RULE,
  description: "The name of the batch",
});

const listed = operatorEndpoint({
  id: "listVouchers",
  path: `${OPERATOR_PATH}/vouchers`,
  summary: "List the batches of vouchers, newest first",
  ...VOUCHERS.endpoint("A batch"),
  run: ({ deps }: Context, input) => VOUCHERS.page(deps.reading.database, input),
});

const make = operatorAct({
  id: "makeVouchers",
  name: "vouchers",
  summary: "Make codes valid that give credit or a plan once to an account",
  description:
    "The caller makes the codes, each of 24 random letters `a` to `z` and digits `2` to `7`, and " +
    "keeps them: only their digests are stored, and nobody can show them again.",
  fields: {
    batch: BATCH,
    codes: Type.Array(text({ maxLength: CODE_CHARACTERS_MAX }), {
      minItems: 1,
      maxItems: CODES_MAX,
    }),
    amount_usd: optional(usdSchema("The credit of each redemption; needed without `plan`")),
    plan: optional(
      oneOf(PRICED_PLANS, {
        description:
          "In place of credit: the plan that an application account gets, for each person once",
      }),
    ),
    months: optional(
      whole(1, GIVEN_MONTHS_MAX, { description: "How many months of the plan; 1 if missing" }),
    ),
    free_days: optional(
      whole(1, FREE_DAYS_MAX, {
        description:
          "The credit is free credit that ends so many days after a redemption, for each person " +
          "once; bonus credit if missing",
      }),
    ),
    uses: optional(
      whole(1, USES_MAX, { description: "How many accounts may redeem each code; 1 if missing" }),
    ),
    tiers: optional(
      Type.Array(oneOf(TIERS.map(({ name }) => name)), {
        minItems: 1,
        uniqueItems: true,
        description: "Only accounts of these tiers; all if missing",
      }),
    ),
    once_per_person: optional(
      Type.Boolean({
        description: "True if an account, an inbox, a network and a device redeem one code of it",
      }),
    ),
    ends_at: optional(time("When the codes end; never if missing")),
  },
  example: {
    batch: "summer",
    codes: ["k3vq-7zma-2bcd-efgh-ijkl-mnop"],
    amount_usd: "5",
    once_per_person: true,
  },
  exampleSummary: "One code of $5",
  bytesMax: BODY_BYTES_MAX,
  async run(context, input) {
    const { administration, clock } = context.deps;
    const { batch, codes, ends_at: end } = input;
    const wrong = codes.findIndex((code) => plainCode(code) === null);
    if (wrong >= 0) throw invalid(`codes[${wrong}]`, "must be 24 letters a to z and digits 2 to 7");
    if (new Set(codes.map(plainCode)).size < codes.length) {
      throw invalid("codes", "must not have a code twice");
    }
    const nowMs = clock.now();
    const terms = {
      batch,
      gift: giftOf(input),
      usesMax: input.uses ?? 1,
      tiers: input.tiers ?? null,
      oncePerPerson: input.once_per_person ?? false,
      endsAt: end == null ? null : readField("ends_at", () => futureFrom(timeFrom(end), nowMs)),
      createdAt: new Date(nowMs),
    };
    const about = madeWords(terms, codes);
    const deed = { ask: input, action: "make_vouchers", subject: batch, about };
    return await actOnce(context, deed, async (also) => {
      await registerVouchers(administration, { terms, codes, also });
      return { applied: true };
    });
  },
});

interface OrderedGift {
  readonly amount_usd?: string | null;
  readonly free_days?: number | null;
  readonly plan?: PricedPlan | null;
  readonly months?: number | null;
  readonly tiers?: readonly string[] | null;
  readonly once_per_person?: boolean | null;
}

/** Credit or a plan: exactly one of them. */
function giftOf(fields: OrderedGift): VoucherGift {
  const { amount_usd: usdText, free_days: days = null, plan, months } = fields;
  const isPersonal = days !== null || plan != null;
  if (isPersonal && fields.once_per_person === false) {
    const gift = plan == null ? "free_days" : "plan";
    throw invalid("once_per_person", `must not be false with ${gift}: a person gets it once`);
  }
  if (plan == null) {
    if (usdText == null) throw invalid("amount_usd", "is needed without a plan");
    if (months != null) throw invalid("months", "must be missing without a plan");
    const amount = readField("amount_usd", () => positiveAmountFrom(usdText));
    return days === null ? { kind: "bonus", amount } : { kind: "free", amount, days };
  }
  for (const other of ["amount_usd", "free_days", "tiers"] as const) {
    if (fields[other] != null) throw invalid(other, "must be missing with a plan");
  }
  return { kind: "plan", plan, months: months ?? 1 };
}

/**
 * The words for a new batch in the trail. They contain all terms, because an order with other terms
 * must not count as a repeat.
 */
function madeWords(terms: VoucherTerms, codes: readonly string[]): string {
  const { batch, gift, usesMax, tiers, oncePerPerson, endsAt } = terms;
  const rules = [
    `${usesMax} uses of each`,
    tiers === null ? [] : `tiers ${tiers.toSorted().join(" ")}`,
    oncePerPerson ? "once per person" : [],
    endsAt === null ? [] : `until ${endsAt.toISOString()}`,
    `codes ${codesDigest(codes)}`,
  ].flat();
  const made = `${codes.length} vouchers of ${giftText(gift)}, batch ${batch}, made`;
  return `${made}: ${rules.join(", ")}`;
}

const end = operatorAct({
  id: "endVouchers",
  name: "vouchers/end",
  summary: "End the codes of a batch; what was redeemed stays",
  fields: { batch: BATCH },
  example: { batch: "summer" },
  async run(context, input) {
    const { administration, clock } = context.deps;
    const { batch } = input;
    const deed = {
      ask: input,
      action: "end_vouchers",
      subject: batch,
      about: `vouchers of batch ${batch} ended`,
    };
    return await actOnce(context, deed, async (also) => {
      await endVouchers(administration, { batch, now: new Date(clock.now()), also });
      return { applied: true };
    });
  },
});

export const VOUCHER_ENDPOINTS = [listed, make, end] as const;
