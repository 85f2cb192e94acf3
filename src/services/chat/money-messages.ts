// Explains why a chat is refused for money, and names the tokens that the account can pay for.

import type { Funds } from "../../../actors/account.ts";
import { leftWords } from "../../../actors/refusal.ts";
import { dollars, type NanoUsd } from "../../core/money/money.ts";
import { capitalised } from "../../core/text/capital.ts";
import { MODEL_USES, type ModelEntry, servedUse } from "./models/catalogue.ts";
import type { RefusedFields } from "./refused-fields.ts";
import { ESTIMATED_BYTES_MAX } from "./tokens/token-counter.ts";

/** The most models that an error message names. */
export const MODELS_NAMED_MAX = 5;
const HELD_BY_BYTES =
  `For a prompt of more than ${ESTIMATED_BYTES_MAX / 1024} KB, one token per byte is held, ` +
  "but only its real tokens are charged";

/**
 * Explains the refusal of a call although there is free credit, and names models that it can pay
 * for.
 */
export function freeMessage(
  { id, serves }: ModelEntry,
  { bound, left, free }: Readonly<Record<"bound" | "left" | "free", NanoUsd>>,
  offered: ReadonlyMap<string, ModelEntry>,
): string {
  const eligible = [...offered.values()].filter(
    (model) => model.freeCreditEligible && servedUse(model) === servedUse({ serves }),
  );
  const named = eligible.slice(0, MODELS_NAMED_MAX).map((model) => model.id);
  const others = eligible.length - named.length;
  const end = others === 0 ? "" : ` and ${others} more, which have svc.free_credit_eligible`;
  const names =
    named.length === 0 ? `no model for ${MODEL_USES[servedUse({ serves })]}` : named.join(", ");
  return (
    `Free credit cannot pay for '${id}'. The call can cost up to ${dollars(bound)}, and ` +
    `${dollars(left)} of paid credit is left. The free credit of ${dollars(free)} can pay ` +
    `for ${names}${end}`
  );
}

export const TOP_UP_UNDER_WAY = "An automatic top-up is under way";

/** The upper bound of a call, and the funds for it. */
interface Shortage {
  readonly bound: NanoUsd;
  readonly funds: Funds;
}

interface Missing extends Shortage {
  /** The highest output limit with which the call would pass; null if a call cannot set one. */
  readonly fitting: number | null;
  /** The field of the output limit in the caller's form. */
  readonly field: RefusedFields["outputLimit"];
  /** True if the bytes of the prompt bound its tokens in the hold. */
  readonly isByBytes: boolean;
}

/** The message with the limit or the prompt that would fit. */
export function moneyMessage({ bound, funds, fitting, field, isByBytes }: Missing): string {
  const shortage = shortageMessage({ bound, funds });
  const message = fitting === null ? shortage : `${shortage}. ${adviceFor(fitting, field)}`;
  return isByBytes ? `${message}. ${HELD_BY_BYTES}` : message;
}

function adviceFor(fitting: number, field: string): string {
  return fitting < 1
    ? `Not even ${field} 1 would fit`
    : `It would fit with ${field} of at most ${fitting}`;
}

/** The message without advice. */
export function shortageMessage({ bound, funds }: Shortage): string {
  const { spendable, refusedBy = null } = funds;
  const left =
    refusedBy === null ? `the balance has ${dollars(spendable)} left` : leftWords(refusedBy);
  return `The call can cost up to ${dollars(bound)}. ${capitalised(left)}`;
}
