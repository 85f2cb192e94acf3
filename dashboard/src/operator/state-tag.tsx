// The state of an account as a short word.

import { Tag } from "../parts/panel.tsx";
import { ot } from "../texts/operator.ts";

const TONES = { active: "paid", suspended: "owed", closed: "plain" } as const;

export function StateTag({ state }: { readonly state: keyof typeof TONES }) {
  return <Tag tone={TONES[state]}>{ot.states[state]}</Tag>;
}
