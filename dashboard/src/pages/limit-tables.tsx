// The windows of each key, and the tiers side by side.

import { PLANS, TIERS } from "../../../src/core/access/limits.ts";
import { capitalised } from "../../../src/core/text/capital.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import { nameOf } from "../name-of.ts";
import { countText } from "../numbers.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Meter } from "../parts/meter.tsx";
import { Money } from "../parts/money.tsx";
import { Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { t } from "../texts.ts";
import { dayTime } from "../time.ts";

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
            {RATES.map((rate) => (
              <Rate key={rate} use={key[rate]} label={t.pair(key.name, words.rates[rate])} />
            ))}
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

const RATES = ["requests_day", "tokens_minute", "tokens_day"] as const;

interface RateProps {
  readonly use: LimitsReply["requests"]["keys"][number][(typeof RATES)[number]];
  readonly label: string;
}

/** A limit of a key in time: what is used and left, and when it renews. */
function Rate({ use, label }: RateProps) {
  if (use === null) return null;
  const words = t.work.limits;
  const { used, most, left, renews_at: renewsAt } = use;
  return (
    <>
      <Meter used={used} most={most} label={label} shown />
      <p className="tiny dim">
        {words.left(countText(left))}
        {renewsAt !== null && ` · ${words.renews(dayTime(renewsAt))}`}
      </p>
    </>
  );
}

type Tier = LimitsReply["tiers"][number];

function tierColumns(kind: LimitsReply["tier"]["kind"]): readonly Column<Tier>[] {
  const tiers = kind === "plan" ? Object.values(PLANS) : TIERS;
  return columnsOf(t.work.limits.tierColumns, {
    tier: ({ name, is_current: isCurrent }) => (
      <>
        <span className="strong">{capitalised(name)}</span>{" "}
        {isCurrent && <Tag tone="paid">{t.work.limits.yours}</Tag>}
      </>
    ),
    requests: { count: "requests_per_minute" },
    streams: { count: "streams" },
    cap: "monthly_cap_usd",
    services: ({ services }) => t.list(services.map((one) => nameOf(t.scopes, one))),
    unlock({ name, unlock }) {
      const tier = tiers.find((one) => one.name === name);
      return tier === undefined ? unlock : t.work.limits.unlock(tier);
    },
  });
}

export function TierTable({ limits: { tier, tiers } }: TableProps) {
  return (
    <Panel title={t.work.limits.tiers}>
      <Table
        columns={tierColumns(tier.kind)}
        rows={tiers}
        keyOf={({ name }) => name}
        isOpen={({ is_current: isCurrent }) => isCurrent}
      />
    </Panel>
  );
}
