// Vouchers: their batches, a new one, and the end of one. The page makes the codes and keeps them
// for the operator before they are valid, because the database has only their digests (D-915).

import { endVouchers, registerVouchers, type VoucherTerms } from "../accounts/vouchers.ts";
import { readField } from "../console/read-fields.ts";
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
import { dollars } from "../core/journal/audit-finding.ts";
import { futureFrom, positiveAmountFrom } from "../core/text/field-rules.ts";
import { invalid } from "../http/body/checks.ts";
import { time, usd } from "../http/console/fields.ts";
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
  summary: "Make codes valid that give bonus or free credit once to an account",
  description:
    "The caller makes the codes, each of 24 random letters `a` to `z` and digits `2` to `7`, and " +
    "keeps them: only their digests are stored, and nobody can show them again.",
  fields: {
    batch: BATCH,
    codes: Type.Array(text({ maxLength: CODE_CHARACTERS_MAX }), {
      minItems: 1,
      maxItems: CODES_MAX,
    }),
    amount_usd: usd("The credit of each redemption"),
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
        description: "True if an inbox, a network and a device redeem one code of it",
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
    const { batch, codes, amount_usd: usdText, ends_at: end } = input;
    const wrong = codes.findIndex((code) => plainCode(code) === null);
    if (wrong >= 0) throw invalid(`codes[${wrong}]`, "must be 24 letters a to z and digits 2 to 7");
    if (new Set(codes.map(plainCode)).size < codes.length) {
      throw invalid("codes", "must not have a code twice");
    }
    if (input.free_days != null && input.once_per_person === false) {
      throw invalid("once_per_person", "must not be false with free_days: a person gets it once");
    }
    const nowMs = clock.now();
    const terms = {
      batch,
      amount: readField("amount_usd", () => positiveAmountFrom(usdText)),
      freeDays: input.free_days ?? null,
      usesMax: input.uses ?? 1,
      tiers: input.tiers ?? null,
      oncePerPerson: input.once_per_person ?? false,
      endsAt: end == null ? null : readField("ends_at", () => futureFrom(new Date(end), nowMs)),
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

/** All terms, because an order that differs in one is no repeat of the first. */
function madeWords(terms: VoucherTerms, codes: readonly string[]): string {
  const { batch, amount, freeDays, usesMax, tiers, oncePerPerson, endsAt } = terms;
  const rules = [
    freeDays === null ? [] : `free credit of ${freeDays} days`,
    `${usesMax} uses of each`,
    tiers === null ? [] : `tiers ${tiers.toSorted().join(" ")}`,
    oncePerPerson ? "once per person" : [],
    endsAt === null ? [] : `until ${endsAt.toISOString()}`,
    `codes ${codesDigest(codes)}`,
  ].flat();
  const made = `${codes.length} vouchers of ${dollars(amount)}, batch ${batch}, made`;
  return `${made}: ${rules.join(", ")}`;
}

const end = operatorAct({
  id: "endVouchers",
  name: "vouchers/end",
  summary: "End the codes of a batch; credit that was redeemed stays",
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
