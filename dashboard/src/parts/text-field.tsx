// A field of a form in which somebody types. The limits of a field follow from the table behind the
// schemas of the server; an amount shows its fault at once.

import { PasswordInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { FORM_FIELDS, type FormField } from "../../../src/core/text/form-fields.ts";
import { typedUsd, typingOf } from "../money.ts";
import { t } from "../texts.ts";

type RuleName = keyof typeof FORM_FIELDS;

/** The state of a field. */
export interface Typed {
  readonly kind: "text" | "email" | "password" | "usd";
  readonly rule: FormField | null;
  readonly text: string;
  readonly type: (text: string) => void;
  /** The text as the server takes it; null while it breaks the rule. */
  readonly value: string | null;
  /** The fault of the text in words; null for a right text, and for an empty one. */
  readonly problem: string | null;
}

const KINDS: Partial<Record<RuleName, Typed["kind"]>> = {
  email: "email",
  password: "password",
  newPassword: "password",
};

/** A text of the table. Spaces around it are not sent, but for those of a password. */
export function useTyped(name: RuleName, initial = ""): Typed {
  const [text, type] = useState(initial);
  const kind = KINDS[name] ?? "text";
  const rule: FormField = FORM_FIELDS[name];
  const sent = kind === "password" ? text : text.trim();
  const value = sent.length < rule.charactersMin ? null : sent;
  return { kind, rule, text, type, value, problem: null };
}

/** An amount. `check` returns any other fault of it. */
export function useTypedUsd(
  initial = "",
  check: (usd: string) => string | null = () => null,
): Typed {
  const [text, type] = useState(typingOf(initial));
  const usd = typedUsd(text);
  const wrong = usd === null ? t.fields.wrongAmount : check(usd);
  const problem = text.trim() === "" ? null : wrong;
  return { kind: "usd", rule: null, text, type, value: wrong === null ? usd : null, problem };
}

/** A text that must be typed as it is shown, before something that cannot be taken back. */
export function useConfirmation(wanted: string): Typed {
  const [text, type] = useState("");
  const value = text.trim() === wanted.trim() ? wanted : null;
  return { kind: "text", rule: null, text, type, value, problem: null };
}

interface TextFieldProps {
  readonly field: Typed;
  readonly label: string;
  readonly about?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  /** True if a question opens with it, or a page that has nothing else. */
  readonly isFirst?: boolean;
  readonly autoFocus?: boolean;
  readonly name?: string;
  readonly autoComplete?: string;
  readonly inputMode?: "decimal" | "numeric";
}

export function TextField({ field, label, about, isFirst = false, ...rest }: TextFieldProps) {
  const { kind, rule, text, type, problem } = field;
  const common = {
    label,
    "data-autofocus": isFirst || undefined,
    ...(about !== undefined && { description: about }),
    ...(rule !== null && { maxLength: rule.charactersMax }),
    value: text,
    error: problem,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      type(event.currentTarget.value),
    ...rest,
  };
  if (kind === "password") {
    return <PasswordInput {...common} minLength={rule?.charactersMin} />;
  }
  if (kind === "usd") return <TextInput {...common} inputMode="decimal" leftSection="$" />;
  return <TextInput {...common} {...(kind === "email" && { type: "email" })} />;
}
