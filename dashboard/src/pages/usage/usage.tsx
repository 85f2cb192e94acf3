// Usage: one figure over time, by group, with the same figures in tables and in CSV. The address
// has every choice.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { USAGE_GROUPS } from "../../../../src/core/usage-query.ts";
import type { UsageReply } from "../../../../src/readings/usage.ts";
import { serverTime } from "../../api/client.ts";
import { usageQuery } from "../../api/queries.ts";
import { AsOf } from "../../parts/as-of.tsx";
import { UsageChart } from "../../parts/lazy-chart.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { PageHead, Panel } from "../../parts/panel.tsx";
import { choiceAmong, type Fields, useFields } from "../../search-fields.ts";
import { useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { isoOf } from "../../time.ts";
import { customRange, PRESETS, presetRange, type Range } from "../../usage-range.ts";
import { METRICS, usageView } from "../../usage-view.ts";
import { useZone } from "../../zone.ts";
import { RangePicker, UsageExports, UsageFilters, UsageSwitches } from "./usage-controls.tsx";
import { UsageTables } from "./usage-tables.tsx";

export function UsagePage() {
  const account = useAccount();
  const [fields, change] = useFields();
  const [zone] = useZone();
  const range = rangeOf(fields, zone);
  const group = choiceAmong(["service", ...USAGE_GROUPS], fields.group);
  const { service, model, key, tag, status } = fields;
  const query = { ...range, zone, group, service, model, key, tag, status };
  const usage = useQuery({
    ...usageQuery(account.id, query),
    placeholderData: (before) => before,
  });
  return (
    <>
      <PageHead title={t.nav.pages.usage} about={<AsOf value={usage.data?.as_of} zone={zone} />}>
        <RangePicker fields={fields} change={change} range={range} />
      </PageHead>
      <Loaded query={usage} height={380}>
        {(reply) => (
          <div className="panels" aria-busy={usage.isPlaceholderData}>
            <Panel>
              <div className="row" data-apart="">
                <UsageSwitches fields={fields} change={change} />
                <UsageExports account={account.id} reply={reply} fields={fields} />
              </div>
              <UsageFilters fields={fields} change={change} choices={reply.choices} />
              <Figures reply={reply} fields={fields} change={change} />
            </Panel>
          </div>
        )}
      </Loaded>
    </>
  );
}

/** The range in the address: a custom one, or a preset. */
export function rangeOf({ from, to, range }: Fields, zone: string): Range {
  const custom = from === undefined || to === undefined ? null : customRange(from, to);
  return custom ?? presetRange(choiceAmong(["7d", ...PRESETS], range), serverTime(), zone);
}

interface FiguresProps {
  readonly reply: UsageReply;
  readonly fields: Fields;
  readonly change: (some: Fields) => void;
}

function Figures({ reply, fields, change }: FiguresProps) {
  const metric = choiceAmong(METRICS, fields.metric);
  const group = choiceAmong(["service", ...USAGE_GROUPS], fields.group);
  const view = useMemo(() => usageView(reply, metric, group), [reply, metric, group]);
  if (view.groups.length === 0) {
    return (
      <Empty title={t.usage.none}>
        <p className="small dim">{t.usage.noneAbout}</p>
      </Empty>
    );
  }
  const zoom = (first: number, last: number) => {
    const [from, to] = [view.times[first], view.times[last + 1] ?? Date.parse(reply.to)];
    if (from !== undefined) change({ from: isoOf(from), to: isoOf(to) });
  };
  return (
    <>
      <UsageChart
        view={view}
        metric={metric}
        zone={reply.zone}
        step={reply.step}
        height={280}
        onZoom={zoom}
      />
      <p className="tiny dim chart-note">
        {t.usage.zoomHint} {metric === "p95" && t.usage.p95Note(reply.p95_error_percent)}
      </p>
      <UsageTables
        view={view}
        reply={reply}
        metric={metric}
        group={group}
        fields={fields}
        change={change}
      />
    </>
  );
}
