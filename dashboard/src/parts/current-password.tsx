// The password of whoever is signed in, with the address that it belongs to for password managers.

import { PasswordInput } from "@mantine/core";
import { useMe } from "../session.tsx";
import { t } from "../texts.ts";

interface CurrentPasswordProps {
  readonly value: string;
  readonly change: (password: string) => void;
  readonly required?: boolean;
  /** True if a question opens with it. */
  readonly isFirst?: boolean;
}

export function CurrentPassword(props: CurrentPasswordProps) {
  const { value, change, required = false, isFirst = false } = props;
  const { person } = useMe();
  return (
    <>
      <input type="text" autoComplete="username" value={person.email} readOnly hidden />
      <PasswordInput
        data-autofocus={isFirst || undefined}
        label={t.people.currentPassword}
        autoComplete="current-password"
        required={required}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </>
  );
}

/** The way on for those without a password, such as who signed up by a code or was invited. */
export function NoPassword() {
  return (
    <a className="small" href="/dashboard/forgot">
      {t.people.noPassword}
    </a>
  );
}
