// The figures of the chart as tables: totals by group, or the chosen figure by step and group.

import { SegmentedControl } from "@mantine/core";
import type { UsageReply } from "../../../../src/console/usage/usage-schema.ts";
import { OTHERS, type UsageGroup } from "../../../../src/core/usage-query.ts";
import { Money } from "../../parts/money.tsx";
import { type Fields, oneOf } from "../../search-fields.ts";
import { stepName } from "../../step-names.ts";
import { t } from "../../texts.ts";
import { duration } from "../../time.ts";
import { type Metric, textOf, type UsageView } from "../../usage-view.ts";

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
  const shown = oneOf(VIEWS, fields.view);
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

function GroupTable({ view, reply, group, change }: TablesProps) {
  const canFilter = group !== "none";
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.usage.groups[group]}</th>
            <th className="num">{t.usage.columns.calls}</th>
            <th className="num">{t.usage.columns.errors}</th>
            <th className="num">{t.usage.columns.input}</th>
            <th className="num">{t.usage.columns.output}</th>
            <th className="num">{t.usage.columns.p95}</th>
            <th className="num">{t.usage.columns.free}</th>
            <th className="num">{t.usage.columns.cost}</th>
          </tr>
        </thead>
        <tbody>
          {view.groups.map(({ id, label, color, total }) => (
            <tr key={id}>
              <td>
                <i className="dot" style={{ background: color }} />
                {canFilter && id !== OTHERS ? (
                  <button
                    type="button"
                    className="row-link link"
                    onClick={() => change({ [group]: id })}
                  >
                    {label}
                  </button>
                ) : (
                  label
                )}
              </td>
              <Cells figures={total} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>{t.usage.total}</td>
            <Cells figures={reply.total} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Cells({ figures }: { readonly figures: UsageReply["total"] }) {
  return (
    <>
      <td className="num">{figures.calls.toLocaleString("en")}</td>
      <td className="num">{figures.errors.toLocaleString("en")}</td>
      <td className="num">{figures.prompt_tokens.toLocaleString("en")}</td>
      <td className="num">{figures.completion_tokens.toLocaleString("en")}</td>
      <td className="num">{figures.p95_ms === null ? "–" : duration(figures.p95_ms)}</td>
      <td className="num">
        <Money usd={figures.free_usd} />
      </td>
      <td className="num">
        <Money usd={figures.cost_usd} />
      </td>
    </>
  );
}

function StepTable({ view, reply, metric }: TablesProps) {
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.usage.columns.step}</th>
            {view.groups.map(({ id, label }) => (
              <th key={id} className="num">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.times.map((at, index) => (
            <tr key={at}>
              <td className="nowrap">{stepName(at, reply.step, reply.zone)}</td>
              {view.groups.map(({ id, texts }) => (
                <td key={id} className="num">
                  {texts[index]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>{t.usage.total}</td>
            {view.groups.map(({ id, total }) => (
              <td key={id} className="num">
                {textOf(total, metric)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
