// The controls of the usage page: range, zone, figure, grouping, filters, and CSV.

import { Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { CALL_STATUSES, FIGURE_NAMES, USAGE_GROUPS } from "../../../../src/core/usage-query.ts";
import type { UsageReply } from "../../../../src/readings/usage.ts";
import { withQuery } from "../../api/client.ts";
import { ofAccount } from "../../api/queries.ts";
import { csvOf, download } from "../../csv.ts";
import { nameOf } from "../../name-of.ts";
import { choiceAmong, type Fields } from "../../search-fields.ts";
import { t } from "../../texts.ts";
import { fromWall, isoOf, localZone, UTC, zoneLabel, zoneOffsetMs } from "../../time.ts";
import { PRESETS, type Range } from "../../usage-range.ts";
import { METRICS } from "../../usage-view.ts";
import { useZone } from "../../zone.ts";

export interface ControlProps {
  readonly fields: Fields;
  readonly change: (some: Fields) => void;
}

const CUSTOM = "custom";

/** Chooses a preset or a custom range, and the zone. */
export function RangePicker({ fields, change, range }: ControlProps & { readonly range: Range }) {
  const isCustom = fields.from !== undefined && fields.to !== undefined;
  const value = isCustom ? CUSTOM : choiceAmong(["7d", ...PRESETS], fields.range);
  const choose = (next: string) => {
    if (next === CUSTOM) change({ from: range.from, to: range.to });
    else change({ range: next, from: undefined, to: undefined });
  };
  return (
    <div className="stack">
      <div className="row" data-end="">
        <SegmentedControl
          size="xs"
          aria-label={t.usage.range}
          data={[...PRESETS, CUSTOM].map((one) => ({
            value: one,
            label: nameOf(t.usage.presets, one),
          }))}
          value={value}
          onChange={choose}
        />
        <ZonePicker />
      </div>
      {isCustom && (
        <CustomRange key={`${fields.from} ${fields.to}`} range={range} change={change} />
      )}
    </div>
  );
}

/** UTC or the zone of this browser, always named with its distance to UTC. */
export function ZonePicker() {
  const [zone, setZone] = useZone();
  const zones = [...new Set([UTC, localZone()])];
  if (zones.length === 1) return <span className="small dim">{UTC}</span>;
  return (
    <Select
      size="xs"
      w={190}
      aria-label={t.usage.zone}
      data={zones.map((one) => ({ value: one, label: zoneLabel(one, new Date()) }))}
      value={zone}
      onChange={(next) => setZone(next ?? UTC)}
    />
  );
}

interface CustomRangeProps {
  readonly range: Range;
  readonly change: (some: Fields) => void;
}

const MINUTES_LENGTH = "2026-01-01T00:00".length;

function CustomRange({ range, change }: CustomRangeProps) {
  const [zone] = useZone();
  const [from, setFrom] = useState(wallText(range.from, zone));
  const [to, setTo] = useState(wallText(range.to, zone));
  const isWrong = from >= to;
  const apply = () => change({ from: wallTime(from, zone), to: wallTime(to, zone) });
  return (
    <form
      className="row"
      data-end=""
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) apply();
      }}
    >
      <TextInput
        type="datetime-local"
        size="xs"
        step={900}
        label={t.usage.from}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        size="xs"
        step={900}
        label={t.usage.to}
        value={to}
        error={isWrong && t.usage.wrongRange}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Button type="submit" size="xs" variant="default" disabled={isWrong}>
        {t.usage.apply}
      </Button>
    </form>
  );
}

function wallText(at: string, zone: string): string {
  const ms = Date.parse(at);
  return isoOf(ms + zoneOffsetMs(ms, zone)).slice(0, MINUTES_LENGTH);
}

function wallTime(text: string, zone: string): string {
  return isoOf(fromWall(Date.parse(`${text.slice(0, MINUTES_LENGTH)}:00Z`), zone));
}

/** Chooses the figure and the grouping. */
export function UsageSwitches({ fields, change }: ControlProps) {
  return (
    <div className="row">
      <SegmentedControl
        size="xs"
        aria-label={t.usage.metric}
        data={METRICS.map((one) => ({ value: one, label: t.usage.metrics[one] }))}
        value={choiceAmong(METRICS, fields.metric)}
        onChange={(metric) => change({ metric })}
      />
      <Select
        size="xs"
        w={130}
        aria-label={t.usage.group}
        data={USAGE_GROUPS.map((one) => ({
          value: one,
          label: one === "none" ? t.usage.groups.none : t.usage.groupedBy(t.usage.groups[one]),
        }))}
        value={choiceAmong(["service", ...USAGE_GROUPS], fields.group)}
        onChange={(group) => change({ group: group ?? undefined })}
      />
    </div>
  );
}

interface FilterProps extends ControlProps {
  readonly choices: UsageReply["choices"];
}

/** Filters by the keys, models and services that the account used in this range. */
export function UsageFilters({ fields, change, choices }: FilterProps) {
  const lists = {
    service: choices.services.map((id) => ({ value: id, label: nameOf(t.services, id) })),
    model: choices.models.map((id) => ({ value: id, label: id })),
    key: choices.keys.map(({ id, name }) => ({ value: id, label: name })),
    tag: choices.tags.map((tag) => ({ value: tag, label: tag })),
    status: CALL_STATUSES.map((id) => ({
      value: id,
      label: t.usage.statuses[id],
    })),
  };
  const all = Object.keys(lists) as (keyof typeof lists)[];
  const names = all.filter((name) => name !== "tag" || choices.tags.length > 0 || fields.tag);
  const isFiltered = names.some((name) => fields[name] !== undefined);
  const none = Object.fromEntries(names.map((name) => [name, undefined]));
  return (
    <div className="row filters">
      {names.map((name) => (
        <Select
          key={name}
          size="xs"
          w={name === "model" ? 180 : 140}
          clearable
          allowDeselect
          clearButtonProps={{ "aria-label": t.pair(t.actions.clear, t.usage.filters[name]) }}
          aria-label={t.usage.filters[name]}
          placeholder={t.pair(t.usage.filters[name], t.usage.any)}
          data={withChosen(lists[name], fields[name])}
          value={fields[name] ?? null}
          onChange={(value) => change({ [name]: value ?? undefined })}
        />
      ))}
      {isFiltered && (
        <Button size="compact-xs" variant="subtle" onClick={() => change(none)}>
          {t.usage.clear}
        </Button>
      )}
    </div>
  );
}

/** Adds the chosen value to a list of choices that lacks it, as outside of the range. */
function withChosen(list: readonly { value: string; label: string }[], chosen: string | undefined) {
  if (chosen === undefined || list.some(({ value }) => value === chosen)) return [...list];
  return [...list, { value: chosen, label: chosen }];
}

interface ExportProps {
  readonly account: string;
  readonly reply: UsageReply;
  readonly fields: Fields;
}

/** The last UTC month of the range that has begun. */
function lastMonthOf({ to, as_of }: UsageReply): string {
  const lastMs = Math.min(Date.parse(to) - 1, Date.parse(as_of.at));
  return new Date(lastMs).toISOString().slice(0, 7);
}

/** CSV of exactly the figures that are shown, of the log rows behind them, and of a month. */
export function UsageExports({ account, reply, fields }: ExportProps) {
  const { service, model, key, tag, status } = fields;
  const filters = { service, model, key, tag, status, from: reply.from, to: reply.to };
  const name = `usage-${reply.from.slice(0, 10)}-${reply.to.slice(0, 10)}.csv`;
  const month = lastMonthOf(reply);
  return (
    <div className="row">
      <Button size="xs" variant="default" onClick={() => download(name, usageCsv(reply))}>
        {t.usage.csv}
      </Button>
      <Button
        size="xs"
        variant="default"
        component="a"
        href={withQuery(ofAccount(account, "requests.csv"), filters)}
        download
      >
        {t.usage.csvLog}
      </Button>
      <Button
        size="xs"
        variant="default"
        component="a"
        href={withQuery(ofAccount(account, "focus.csv"), { month })}
        download
      >
        {t.usage.focus(month)}
      </Button>
    </div>
  );
}

/**
 * Each group and step that is shown, with exact amounts. Without totals, which a sum of a column
 * would count once more.
 */
function usageCsv({ groups }: UsageReply): string {
  const rows = groups.flatMap(({ label, steps }) =>
    steps.map((step) => [step.at, label, ...FIGURE_NAMES.map((name) => String(step[name] ?? ""))]),
  );
  return csvOf([["begin", "group", ...FIGURE_NAMES], ...rows]);
}
