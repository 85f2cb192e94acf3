// Explains refusals and failures in another language than that of the server, by their codes. A
// code without a text in a language is a type error.

import type { ConsoleErrorCode } from "../../../src/core/console-errors.ts";
import type { AdministrationErrorCode, ErrorCode } from "../../../src/core/errors.ts";
import type { ReceiptReply } from "../../../src/readings/receipt.ts";
import type { LimitName, MendedCode } from "../../../src/readings/refusal-words.ts";

type Refusal = NonNullable<ReceiptReply["refusal"]>;

export interface RefusalTexts {
  /** Explains a refused or failed call of the log, with a remedy. */
  readonly explanation: (refusal: Refusal, isFault: boolean) => string;
  /**
   * The words for a refusal of the server with this code and message, which is in English. With
   * `isQuoted` they have the message in brackets, whatever the code.
   */
  readonly message: (code: string, message: string, isQuoted?: boolean) => string;
}

/** The texts of a language. The texts of errors are whole sentences. */
export interface RefusalWords {
  readonly errors: Readonly<Record<ErrorCode, string>>;
  readonly consoleErrors: Readonly<Record<Exclude<ConsoleErrorCode, ErrorCode>, string>>;
  /** Refusals of changes to an account. */
  readonly changeErrors: Readonly<Record<Exclude<AdministrationErrorCode, ErrorCode>, string>>;
  /** The limits by their names in the log. */
  readonly limits: Readonly<Record<LimitName, string>>;
  readonly help: Readonly<Record<MendedCode, string>>;
  /** The separator between two sentences. */
  readonly gap: string;
  /** For the row that counts several refused requests. */
  readonly summary: string;
  /** For a call whose server went away. */
  readonly expired: string;
  readonly refused: (code: string) => string;
  readonly failed: (code: string) => string;
  readonly limit: (limit: string) => string;
}

/** Codes whose message names a field, a rule, an amount or a state, which no table can (D-917). */
const WITH_DETAIL: ReadonlySet<string> = new Set([
  "invalid_parameter",
  "unsupported_field",
  "model_not_allowed",
  "idempotency_already_charged",
  "sso_refused",
  "too_large",
  "unreadable_documents",
  "wrong_scope",
  "wrong_state",
  "wrong_surface",
]);

/** The texts by the words of a language. */
export function refusalTextsOf(words: RefusalWords): RefusalTexts {
  const sentences: Readonly<Record<string, string>> = {
    ...words.changeErrors,
    ...words.consoleErrors,
    ...words.errors,
  };
  const limits: Readonly<Record<string, string>> = words.limits;
  const help: Readonly<Record<string, string>> = words.help;
  return {
    explanation({ code, limit }, isFault) {
      if (code === "refused_summary") return words.summary;
      if (code === "hold_expired") return words.expired;
      const what = sentences[code] ?? (isFault ? words.failed(code) : words.refused(code));
      const reached = limit === null ? [] : [words.limit(limits[limit] ?? limit)];
      const mended = help[code] === undefined ? [] : [help[code]];
      return [what, ...reached, ...mended].join(words.gap);
    },
    message(code, message, isQuoted = false) {
      const sentence = sentences[code];
      if (sentence === undefined) return message;
      return isQuoted || WITH_DETAIL.has(code) ? `${sentence} (${message})` : sentence;
    },
  };
}
