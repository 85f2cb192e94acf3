// Lists the burn-rate rules of an account and the alarms that they raised.

import type { AdministrationDeps } from "../accounts/administration.ts";
import { BURN_ACTIONS } from "../core/access/burn-rules.ts";
import {
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../core/records.ts";
import { byNumber, listReading, type PageOf } from "../readings/list-reading.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { type BurnAlarmRow, listBurnAlarms, listLasting } from "../store/accounts/burn-alarms.ts";
import { type BurnRuleRow, listBurnRules } from "../store/accounts/burn-rules.ts";
import type { Database } from "../store/servers/database.ts";

const KEY = "key_7n42DGM5Tflk9n8mt7Fhc7";
const ENDS = "2026-11-22T14:33:20.000Z";

const Terms = {
  above_usd: usdField({ about: "Within five minutes", sample: "5" }),
  times_usual: nullable(integer({ about: "Also so many times the usual", sample: 3 }), {
    sample: null,
  }),
  action: word(BURN_ACTIONS, { about: "What happens to the key", sample: "pause" }),
  requests_per_minute: nullable(integer({ about: "Left to a key that is slowed", sample: 2 }), {
    sample: null,
  }),
};

const Rule = {
  number: integer({ about: "Names the rule", sample: 3 }),
  key: nullable(text({ about: "Its key; null: each key", sample: KEY }), { sample: null }),
  ...Terms,
  minutes: nullable(integer({ about: "After how long that ends by itself", sample: 30 })),
  created_at: time({ sample: "2026-11-02T09:12:00.000Z" }),
};

const Alarm = {
  number: integer({ about: "Names the alarm", sample: 41 }),
  key: nested({ id: text({ sample: KEY }), name: text({ sample: "production" }) }),
  ...Terms,
  spent_usd: usdField({ about: "Charged within five minutes", sample: "6.4" }),
  threshold_usd: usdField({ about: "From which amount on the rule fired", sample: "5" }),
  at: time({ sample: "2026-11-22T14:03:20.000Z" }),
  ends_at: nullable(time({ about: "When it ends by itself", sample: ENDS })),
  ended_at: nullable(time({ about: "When it ended; null: it lasts", sample: ENDS }), {
    sample: null,
  }),
};

export const BurnRules = {
  rules: listOf(nested(Rule)),
  lasting: listOf(nested(Alarm), { about: "The alarms whose keys are slowed or paused now" }),
};
export type BurnRulesReply = WireOf<typeof BurnRules>;

const [ruleFrom, alarmFrom] = [jsonFrom(Rule), jsonFrom(Alarm)];

/** The rules of an account, oldest first, and their measures against its keys now. */
export async function burnRulesReply(
  { accounts }: Pick<AdministrationDeps, "accounts">,
  { number }: Pick<AccountRow, "number">,
): Promise<BurnRulesReply> {
  const { database } = accounts.deps;
  const [rules, lasting] = await Promise.all([
    listBurnRules(database, number),
    listLasting(database, number),
  ]);
  return { rules: rules.map(ruleLine), lasting: lasting.map(alarmLine) };
}

function ruleLine(rule: BurnRuleRow): WireOf<typeof Rule> {
  return ruleFrom({ ...rule, above: rule.amount, timesUsual: rule.times });
}

function alarmLine(alarm: BurnAlarmRow): WireOf<typeof Alarm> {
  const key = { id: alarm.keyId, name: alarm.keyName };
  return alarmFrom({ ...alarm, above: alarm.amount, timesUsual: alarm.times, key });
}

/** The account whose alarms are read. */
export interface BurnSource {
  readonly database: Database;
  readonly account: Pick<AccountRow, "number">;
}

export const BURN_ALARMS = listReading({
  name: "alarms",
  line: Alarm,
  filters: {},
  keyset: byNumber("number"),
  read: ({ database, account }: BurnSource, _, page) =>
    listBurnAlarms(database, account.number, page),
  toLine: alarmLine,
});
export type BurnAlarmsReply = PageOf<typeof BURN_ALARMS>;
