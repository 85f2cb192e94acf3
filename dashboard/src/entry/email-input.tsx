// The address that somebody signs in with.

import { TextField, type Typed } from "../parts/text-field.tsx";
import { t } from "../texts.ts";

interface EmailInputProps {
  readonly field: Typed;
  readonly autoFocus?: boolean;
}

export function EmailInput(props: EmailInputProps) {
  return (
    <TextField {...props} label={t.entry.email} name="email" autoComplete="username" required />
  );
}
