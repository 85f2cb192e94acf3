// The models with all their prices.

import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ModelsReply } from "../../../src/readings/models.ts";
import { modelsQuery } from "../api/queries.ts";
import { moneyText } from "../money.ts";
import { countText } from "../numbers.ts";
import { Copy } from "../parts/code.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { t } from "../texts.ts";

type Model = ModelsReply["models"][number];
type Row = Model["prices"][number];

export function ModelsPage() {
  const query = useQuery(modelsQuery);
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const fits = ({ id, label, family }: Model) =>
    [id, label, family].some((text) => text.toLowerCase().includes(wanted));
  return (
    <>
      <PageHead title={t.nav.pages.models} about={t.work.models.about}>
        <TextInput
          aria-label={t.work.models.filter}
          placeholder={t.work.models.filter}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      </PageHead>
      <Loaded query={query} height={260}>
        {({ models }) => (
          <Panel>
            {models.length === 0 ? (
              <Empty title={t.work.models.noneAtAll}>
                <p className="small dim">{t.work.models.noneAtAllAbout}</p>
              </Empty>
            ) : (
              <Table
                columns={COLUMNS}
                rows={models.filter(fits).flatMap(priceRows)}
                keyOf={({ model, row }) => `${model.id} ${row.conditions}`}
                none={t.work.models.none}
              />
            )}
          </Panel>
        )}
      </Loaded>
    </>
  );
}

/** A price row of a model; the first one has the facts about the model itself. */
interface PriceRow {
  readonly model: Model;
  readonly row: Row;
  readonly isFirst: boolean;
}

const COLUMNS: readonly Column<PriceRow>[] = columnsOf(t.work.models.columns, {
  model: {
    words: ({ model, row, isFirst }) => (
      <>
        {isFirst && <ModelName model={model} />}
        <div className="tiny dim">
          {t.list(
            row.when.map(({ name, value }) => t.work.models.conditions[name](numbersIn(value))),
          )}
        </div>
        {row.further_prices.map((price) => (
          <div key={price.part ?? price.fee} className="tiny dim">
            {furtherText(price)}
          </div>
        ))}
      </>
    ),
  },
  context: {
    number: ({ model: { context_tokens: tokens }, isFirst }) =>
      isFirst && (tokens === null ? "–" : countText(tokens)),
  },
  input: { number: ({ row }) => <Money usd={row.input_usd_per_m} /> },
  cached: {
    number: ({ row: { cached_input_usd_per_m: usd } }) =>
      usd === null ? "–" : <Money usd={usd} />,
  },
  output: { number: ({ row }) => <Money usd={row.output_usd_per_m} /> },
  free: ({ model: { free_credit_eligible: isEligible }, isFirst }) =>
    isFirst && (isEligible ? <Tag tone="free">{t.work.models.yes}</Tag> : t.work.models.no),
  status: ({ model: { is_paused: isPaused }, isFirst }) =>
    isFirst && (
      <Tag tone={isPaused ? "held" : "paid"}>
        {isPaused ? t.work.models.paused : t.work.models.ready}
      </Tag>
    ),
});

/** A number is written as the language writes it; any other value stays as it is. */
function numbersIn(value: string): string {
  return /^\d+$/.test(value) ? countText(Number(value)) : value;
}

/** A price of other tokens, or a fee, in words. */
function furtherText({ part, fee, per, usd }: Row["further_prices"][number]): string {
  const amount = moneyText(usd);
  if (part !== null) return t.work.models.part(amount, t.work.models.parts[part]);
  return fee === null || per === null ? amount : t.work.models.fee(amount, fee, per);
}

function priceRows(model: Model): PriceRow[] {
  return model.prices.map((row, index) => ({ model, row, isFirst: index === 0 }));
}

function ModelName({ model }: { readonly model: Model }) {
  return (
    <div className="row">
      <div>
        <div className="strong">{model.label}</div>
        <code className="tiny dim">{model.id}</code>
      </div>
      <Copy text={model.id} label={`${t.work.models.copyId} ${model.id}`} />
    </div>
  );
}
