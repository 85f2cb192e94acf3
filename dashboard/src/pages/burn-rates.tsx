// The burn-rate rules of an account, their measures against its keys now, and the dialog of a new
// rule.

import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { BurnAlarmsReply, BurnRulesReply } from "../../../src/console/burn-lists.ts";
import { BURN_ACTIONS, BURN_BOUNDS, type BurnAction } from "../../../src/core/access/burn-rules.ts";
import { mayAct } from "../../../src/core/access/roles.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import { addBurnRule, removeBurnRule, resumeKey } from "../api/money-changes.ts";
import { burnAlarmsQuery, burnRulesQuery, outdateAccount } from "../api/queries.ts";
import { keyNameOf } from "../name-of.ts";
import { Problem, say, useChange } from "../parts/ask.tsx";
import { AskAmount } from "../parts/ask-amount.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PagerRow } from "../parts/pager.tsx";
import { Panel } from "../parts/panel.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { Table } from "../parts/table.tsx";
import type { Account } from "../session.tsx";
import { t } from "../texts.ts";
import { dayTime } from "../time.ts";

type Rule = BurnRulesReply["rules"][number];
type Alarm = BurnAlarmsReply["alarms"][number];

interface BurnProps {
  readonly limits: LimitsReply;
  readonly account: Account;
}

export function BurnPanel({ limits, account }: BurnProps) {
  const words = t.work.burn;
  const [isAsking, setAsking] = useState(false);
  const query = useQuery(burnRulesQuery(account.id));
  const nameOf = (key: string | null) => keyNameOf(limits.requests.keys, key, words.eachKey);
  const columns = ruleColumns(nameOf, (rule) =>
    mayAct(account.role, "admin") ? <Remove rule={rule} of={account.id} /> : null,
  );
  return (
    <Panel title={words.title}>
      <Loaded query={query} height={80}>
        {({ rules, lasting }) => (
          <>
            {lasting.map((alarm) => (
              <Lasting key={alarm.number} alarm={alarm} account={account} />
            ))}
            <Table
              columns={columns}
              rows={rules}
              keyOf={({ number }) => String(number)}
              none={words.none}
            />
          </>
        )}
      </Loaded>
      {mayAct(account.role, "admin") && (
        <Button size="xs" variant="default" mt="sm" onClick={() => setAsking(true)}>
          {words.add}
        </Button>
      )}
      {isAsking && <AddRule limits={limits} account={account} close={() => setAsking(false)} />}
      <Alarms account={account.id} />
    </Panel>
  );
}

/** The columns of rules. `nameOf` names a key by its id, and null is each key. */
export function ruleColumns(
  nameOf: (key: string | null) => string,
  buttons?: (rule: Rule) => ReactNode,
): readonly Column<Rule>[] {
  const words = t.work.burn;
  return columnsOf(
    words.columns,
    {
      key: ({ key }) => nameOf(key),
      above: "above_usd",
      times: ({ times_usual: times }) => (times === null ? "" : words.times(times)),
      action: (rule) => actionText(rule),
    },
    buttons && { show: buttons },
  );
}

function actionText({
  action,
  requests_per_minute: requests,
  minutes,
}: Pick<Rule, "action" | "requests_per_minute" | "minutes">): string {
  const words = t.work.burn;
  if (minutes === null) return words.actions.alert;
  const measure = action === "pause" ? words.actions.pause : words.slowTo(requests ?? 0);
  return words.forMinutes(measure, minutes);
}

/** A key that a rule slows or pauses now. */
function Lasting({ alarm, account }: { readonly alarm: Alarm; readonly account: Account }) {
  const words = t.work.burn;
  const resume = useChange(async () => {
    const { applied } = await resumeKey(account.id, alarm.key.id);
    say(applied ? words.resumed : words.resumedSoon);
    await outdateAccount(account.id);
  });
  return (
    <div className="row">
      <p className="small strong">{lastingText(alarm)}</p>
      {mayAct(account.role, "admin") && (
        <RowButton of={alarm.key.name} onClick={() => void resume.start()}>
          {words.resume}
        </RowButton>
      )}
      <Problem error={resume.error} />
    </div>
  );
}

/** The measure of a rule against a key, and the end of the measure. */
export function lastingText({ action, key, ends_at: end }: Alarm): string {
  const words = t.work.burn;
  const until = end === null ? "" : dayTime(end);
  return action === "pause"
    ? words.pausedUntil(key.name, until)
    : words.slowedUntil(key.name, until);
}

function Remove({ rule, of: account }: { readonly rule: Rule; readonly of: string }) {
  const words = t.work.burn;
  const remove = useChange(async () => {
    await removeBurnRule(account, rule.number);
    say(words.removed);
    await outdateAccount(account);
  });
  return (
    <>
      <RowButton of={`$${rule.above_usd}`} onClick={() => void remove.start()}>
        {words.remove}
      </RowButton>
      <Problem error={remove.error} />
    </>
  );
}

const EACH = "each";

function AddRule({ limits, account, close }: BurnProps & { readonly close: () => void }) {
  const words = t.work.burn;
  const [key, setKey] = useState(EACH);
  const [action, setAction] = useState<BurnAction>("alert");
  const [times, setTimes] = useState("");
  const [requests, setRequests] = useState("10");
  const [minutes, setMinutes] = useState("30");
  const keys = limits.requests.keys.map(({ id, name }) => ({ value: id, label: name }));
  const add = async (usd: string | null) => {
    if (usd === null) return;
    await addBurnRule(account.id, {
      ...(key !== EACH && { key }),
      above_usd: usd,
      action,
      times_usual: times.trim() === "" ? null : Number(times),
      requests_per_minute: action === "slow" ? Number(requests) : null,
      minutes: action === "alert" ? null : Number(minutes),
    });
    say(words.added);
    await outdateAccount(account.id);
  };
  const count = (label: string, value: string, set: (value: string) => void) => (
    <TextInput
      label={label}
      inputMode="numeric"
      value={value}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
  return (
    <AskAmount
      title={words.add}
      about={words.about}
      label={words.amount}
      present={null}
      removal={null}
      set={add}
      close={close}
    >
      <Select
        label={words.columns.key}
        data={[{ value: EACH, label: words.eachKey }, ...keys]}
        value={key}
        allowDeselect={false}
        onChange={(value) => setKey(value ?? EACH)}
      />
      <Select
        label={words.columns.action}
        data={BURN_ACTIONS.map((one) => ({ value: one, label: words.actions[one] }))}
        value={action}
        allowDeselect={false}
        onChange={(value) => setAction((value ?? "alert") as BurnAction)}
      />
      {action === "slow" && count(words.requests, requests, setRequests)}
      {action !== "alert" && count(words.minutes(BURN_BOUNDS.minutes.min), minutes, setMinutes)}
      {count(words.timesLabel, times, setTimes)}
    </AskAmount>
  );
}

interface AlarmsProps {
  readonly account: string;
  /** The text in place of the table if there are no alarms; missing below rules. */
  readonly none?: string;
}

export function Alarms({ account, none }: AlarmsProps) {
  const words = t.work.burn;
  const [before, setBefore] = useState<string>();
  const query = useQuery({
    ...burnAlarmsQuery(account, { before }),
    placeholderData: (old) => old,
  });
  const columns: readonly Column<Alarm>[] = columnsOf(words.alarmColumns, {
    at: "at",
    key: ({ key }) => key.name,
    spent: "spent_usd",
    threshold: "threshold_usd",
    action: ({ action }) => words.actions[action],
    ended: "ended_at",
  });
  return (
    <Loaded query={query} height={40}>
      {({ alarms, next }) =>
        alarms.length === 0 ? (
          none !== undefined && <p className="small dim">{none}</p>
        ) : (
          <>
            {none === undefined && <hr className="tear" />}
            <Table columns={columns} rows={alarms} keyOf={({ number }) => String(number)} />
            {(next !== null || before !== undefined) && (
              <PagerRow before={before} next={next} go={setBefore} />
            )}
          </>
        )
      }
    </Loaded>
  );
}
