// The models with all their prices.

import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ModelsReply } from "../../../src/readings/models.ts";
import { modelsQuery } from "../api/queries.ts";
import { countText } from "../numbers.ts";
import { Copy } from "../parts/code.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { t } from "../texts.ts";

type Model = ModelsReply["models"][number];
type Band = Model["bands"][number];

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
                rows={models.filter(fits).flatMap(bandRows)}
                keyOf={({ model, band }) => `${model.id} ${band.prompt_tokens_max}`}
                none={t.work.models.none}
              />
            )}
          </Panel>
        )}
      </Loaded>
    </>
  );
}

/** A price band of a model; the first one has what is said of the model itself. */
interface BandRow {
  readonly model: Model;
  readonly band: Band;
  readonly isFirst: boolean;
}

const COLUMNS: readonly Column<BandRow>[] = columnsOf(t.work.models.columns, {
  model: ({ model, band, isFirst }) => (
    <>
      {isFirst && <ModelName model={model} />}
      {model.bands.length > 1 && <div className="tiny dim">{bandName(band)}</div>}
    </>
  ),
  context: {
    number: ({ model: { context_tokens: tokens }, isFirst }) =>
      isFirst && (tokens === null ? "–" : countText(tokens)),
  },
  input: { number: ({ band }) => <Money usd={band.input_usd_per_m} /> },
  cached: {
    number: ({ band: { cached_input_usd_per_m: usd } }) =>
      usd === null ? "–" : <Money usd={usd} />,
  },
  output: { number: ({ band }) => <Money usd={band.output_usd_per_m} /> },
  free: ({ model: { free_credit_eligible: isEligible }, isFirst }) =>
    isFirst && (isEligible ? <Tag tone="free">{t.work.models.yes}</Tag> : t.work.models.no),
  status: ({ model: { is_paused: isPaused }, isFirst }) =>
    isFirst && (
      <Tag tone={isPaused ? "held" : "paid"}>
        {isPaused ? t.work.models.paused : t.work.models.ready}
      </Tag>
    ),
});

function bandRows(model: Model): BandRow[] {
  return model.bands.map((band, index) => ({ model, band, isFirst: index === 0 }));
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

function bandName({ prompt_tokens_max: most }: Band): string {
  return most === null ? t.work.models.lastBand : t.work.models.band(most);
}
