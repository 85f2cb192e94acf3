// Defines the record of an account that operators read.

import { PLAN_NAMES } from "../core/access/limits.ts";
import {
  jsonFrom,
  nested,
  nullable,
  number,
  text,
  time,
  type WireOf,
  word,
} from "../core/records.ts";
import { Overview } from "./overview.ts";
import { Team } from "./team.ts";

export const OperatorAccount = {
  id: text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
  name: nullable(text({ sample: "Ada's account" })),
  email: nullable(text({ sample: "ada@example.com" })),
  surface: word(["gateway", "application"], { sample: "gateway" }),
  plan: nullable(word(PLAN_NAMES, { sample: "pro" }), { sample: null }),
  contract: nullable(word(["enterprise"], { sample: "enterprise" }), { sample: null }),
  mail_domain: nullable(text({ sample: "example.com" })),
  created_at: time({ sample: "2026-11-01T09:00:00.000Z" }),
  open_calls: number({ minimum: 0, about: "Calls that hold money now", sample: 1 }),
  open_streams: number({ minimum: 0, sample: 0 }),
  overview: nested(Overview),
  people: nested(Team),
};
export type OperatorAccountReply = WireOf<typeof OperatorAccount>;

export const operatorAccountJson = jsonFrom(OperatorAccount);
