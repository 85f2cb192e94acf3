// The address that somebody signs in with.

import { TextInput } from "@mantine/core";
import { t } from "../texts.ts";

interface EmailInputProps {
  readonly value: string;
  readonly change: (email: string) => void;
  readonly autoFocus?: boolean;
}

export function EmailInput({ value, change, autoFocus = false }: EmailInputProps) {
  return (
    <TextInput
      label={t.entry.email}
      type="email"
      name="email"
      autoComplete="username"
      required
      autoFocus={autoFocus}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
