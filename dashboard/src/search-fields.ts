// The filters of a page, which live in its address: a link shows the same rows as its sender's
// page.

import { useNavigate, useSearch } from "@tanstack/react-router";

export type Fields = Readonly<Record<string, string | undefined>>;

/** The fields of the address, and a function that changes some of them. */
export function useFields(): readonly [fields: Fields, change: (some: Fields) => void] {
  const fields: Fields = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (some: Fields) => {
    const next = Object.entries({ ...fields, ...some }).filter(([, value]) => value !== undefined);
    void navigate({ to: ".", search: Object.fromEntries(next), replace: true });
  };
  return [fields, change];
}

/** The value if it is one of these, else the first of them. */
export function choiceAmong<T extends string>(choices: readonly T[], value: string | undefined): T {
  const [first] = choices;
  if (first === undefined) throw new Error("There is nothing to choose from");
  return choices.find((one) => one === value) ?? first;
}
