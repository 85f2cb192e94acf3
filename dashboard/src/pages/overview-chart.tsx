// Cost by day of the last 30 days, on the overview.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { UsageReply } from "../../../src/readings/usage.ts";
import { serverTime } from "../api/client.ts";
import { usageQuery } from "../api/queries.ts";
import { UsageChart } from "../parts/lazy-chart.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { t } from "../texts.ts";
import { zoneLabel } from "../time.ts";
import { presetRange } from "../usage-range.ts";
import { usageView } from "../usage-view.ts";
import { useZone } from "../zone.ts";

const RENEW_MS = 30_000;
const HEIGHT = 210;

interface OverviewChartProps {
  readonly account: string;
  /** The charges of today: when they change, the chart is read again at once. */
  readonly today: string;
}

export function OverviewChart({ account, today }: OverviewChartProps) {
  const [zone] = useZone();
  const range = presetRange("30d", serverTime(), zone);
  const options = usageQuery(account, { ...range, zone, group: "service" });
  const query = useQuery({ ...options, refetchInterval: RENEW_MS });
  const { refetch } = query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the data ends with `today`
  useEffect(() => void refetch(), [refetch, today]);
  const aside = (
    <Link to="/$account/usage" params={{ account }}>
      {t.usage.last30}, {zoneLabel(zone, new Date())}
    </Link>
  );
  return (
    <Panel title={t.work.costByDay} aside={aside}>
      <Loaded query={query} height={HEIGHT}>
        {(reply) => <Drawing reply={reply} />}
      </Loaded>
    </Panel>
  );
}

function Drawing({ reply }: { readonly reply: UsageReply }) {
  const view = useMemo(() => usageView(reply, "cost", "service"), [reply]);
  if (view.groups.length === 0) return <p className="small dim">{t.work.noCost}</p>;
  return (
    <UsageChart view={view} metric="cost" zone={reply.zone} step={reply.step} height={HEIGHT} />
  );
}
