// The figures of the chart as tables: totals by group, or the chosen figure by step and group.

import { SegmentedControl } from "@mantine/core";
import { OTHERS, type UsageGroup } from "../../../../src/core/usage-query.ts";
import type { UsageReply } from "../../../../src/readings/usage.ts";
import { type Column, columnOf, columnsOf } from "../../parts/columns.tsx";
import { Table } from "../../parts/table.tsx";
import { choiceAmong, type Fields } from "../../search-fields.ts";
import { stepName } from "../../step-names.ts";
import { t } from "../../texts.ts";
import { duration } from "../../time.ts";
import { figureText, type Metric, type ShownGroup, type UsageView } from "../../usage-view.ts";

interface TablesProps {
  readonly view: UsageView;
  readonly reply: UsageReply;
  readonly metric: Metric;
  readonly group: UsageGroup;
  readonly fields: Fields;
  readonly change: (some: Fields) => void;
}

const VIEWS = ["groups", "steps"] as const;

export function UsageTables(props: TablesProps) {
  const { fields, change } = props;
  const shown = choiceAmong(VIEWS, fields.view);
  return (
    <>
      <hr className="tear" />
      <SegmentedControl
        size="xs"
        aria-label={t.usage.view}
        data={VIEWS.map((one) => ({ value: one, label: t.usage.views[one] }))}
        value={shown}
        onChange={(view) => change({ view })}
      />
      {shown === "groups" ? <GroupTable {...props} /> : <StepTable {...props} />}
    </>
  );
}

type Figures = UsageReply["total"];

function GroupTable({ view, reply, group, change }: TablesProps) {
  const canFilter = group !== "none";
  const name = ({ id, label, color }: ShownGroup) => (
    <>
      <i className="dot" style={{ background: color }} />
      {canFilter && id !== OTHERS ? (
        <button type="button" className="row-link link" onClick={() => change({ [group]: id })}>
          {label}
        </button>
      ) : (
        label
      )}
    </>
  );
  const figures = FIGURES.map(
    ({ show, ...column }): Column<ShownGroup> => ({ ...column, show: ({ total }) => show(total) }),
  );
  return (
    <Table
      columns={[columnOf("name", t.usage.groups[group], name), ...figures]}
      rows={view.groups}
      keyOf={({ id }) => id}
      total={[t.usage.total, ...FIGURES.map(({ show }) => show(reply.total))]}
    />
  );
}

const FIGURES: readonly Column<Figures>[] = columnsOf(t.usage.columns, {
  calls: { count: "calls" },
  errors: { count: "errors" },
  input: { count: "prompt_tokens" },
  output: { count: "completion_tokens" },
  p95: { number: ({ p95_ms: ms }) => (ms === null ? "–" : duration(ms)) },
  free: "free_usd",
  cost: "cost_usd",
});

interface StepRow {
  readonly at: number;
  readonly index: number;
}

function StepTable({ view, reply, metric }: TablesProps) {
  const step = ({ at }: StepRow) => (
    <span className="nowrap">{stepName(at, reply.step, reply.zone)}</span>
  );
  const groups = view.groups.map(({ id, label, texts }) =>
    columnOf(`group ${id}`, label, { number: ({ index }: StepRow) => texts[index] }),
  );
  return (
    <Table
      columns={[columnOf("step", t.usage.columns.step, step), ...groups]}
      rows={view.times.map((at, index) => ({ at, index }))}
      keyOf={({ at }) => String(at)}
      total={[t.usage.total, ...view.groups.map(({ total }) => figureText(total, metric))]}
    />
  );
}
