// The windows of each key, and the tiers side by side.

import type { LimitsReply } from "../../../src/console/limits-schema.ts";
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
            <Meter used={key.used} most={requests.per_minute_key} label={key.name} shown />
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

export function TierTable({ limits: { tiers } }: TableProps) {
  const { tierColumns: columns } = t.work.limits;
  return (
    <Panel title={t.work.limits.tiers}>
      <Table
        columns={[
          columns.tier,
          { number: columns.requests },
          { number: columns.streams },
          { number: columns.cap },
          columns.services,
          columns.unlock,
        ]}
      >
        {tiers.map((tier) => (
          <tr key={tier.name} {...(tier.is_current && { "data-open": "" })}>
            <td>
              <span className="strong">{t.work.capital(tier.name)}</span>{" "}
              {tier.is_current && <Tag tone="paid">{t.work.limits.yours}</Tag>}
            </td>
            <td className="num">{tier.requests_per_minute.toLocaleString("en")}</td>
            <td className="num">{tier.streams.toLocaleString("en")}</td>
            <td className="num">
              {tier.monthly_cap_usd === null ? "–" : <Money usd={tier.monthly_cap_usd} />}
            </td>
            <td>{tier.services.map((one) => nameOf(t.scopes, one)).join(", ")}</td>
            <td>{tier.unlock}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
