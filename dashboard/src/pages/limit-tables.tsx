// The windows of each key, and the tiers side by side.

import type { LimitsReply } from "../../../src/readings/limits.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Meter } from "../parts/meter.tsx";
import { Money } from "../parts/money.tsx";
import { Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { nameOf, t } from "../texts.ts";

interface TableProps {
  readonly limits: LimitsReply;
}

export function KeyWindows({ limits: { requests } }: TableProps) {
  const words = t.work.limits;
  return (
    <Panel title={words.keys} aside={words.used}>
      {requests.keys.length === 0 && <p className="small dim">{t.work.keys.none}</p>}
      <div className="stack">
        {requests.keys.map((key) => (
          <div key={key.id}>
            <Meter used={key.used} most={key.per_minute} label={key.name} shown />
            {key.monthly_limit_usd !== null && (
              <p className="tiny dim">
                {words.budget}: <Money usd={key.month_spent_usd} /> {t.work.of}{" "}
                <Money usd={key.monthly_limit_usd} />
              </p>
            )}
          </div>
        ))}
      </div>
    </Panel>
  );
}

type Tier = LimitsReply["tiers"][number];

const TIERS: readonly Column<Tier>[] = columnsOf(t.work.limits.tierColumns, {
  tier: ({ name, is_current: isCurrent }) => (
    <>
      <span className="strong">{t.work.capital(name)}</span>{" "}
      {isCurrent && <Tag tone="paid">{t.work.limits.yours}</Tag>}
    </>
  ),
  requests: { count: "requests_per_minute" },
  streams: { count: "streams" },
  cap: "monthly_cap_usd",
  services: ({ services }) => services.map((one) => nameOf(t.scopes, one)).join(", "),
  unlock: "unlock",
});

export function TierTable({ limits: { tiers } }: TableProps) {
  return (
    <Panel title={t.work.limits.tiers}>
      <Table
        columns={TIERS}
        rows={tiers}
        keyOf={({ name }) => name}
        isOpen={({ is_current: isCurrent }) => isCurrent}
      />
    </Panel>
  );
}
