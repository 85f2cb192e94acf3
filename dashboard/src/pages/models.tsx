// The models with all their prices.

import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ModelsReply } from "../../../src/console/models-schema.ts";
import { modelsQuery } from "../api/queries.ts";
import { Copy } from "../parts/code.tsx";
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
              <ModelTable models={models.filter(fits)} />
            )}
          </Panel>
        )}
      </Loaded>
    </>
  );
}

function ModelTable({ models }: { readonly models: readonly Model[] }) {
  if (models.length === 0) return <p className="dim">{t.work.models.none}</p>;
  const { columns } = t.work.models;
  return (
    <Table
      columns={[
        columns.model,
        { number: columns.context },
        { number: columns.input },
        { number: columns.cached },
        { number: columns.output },
        columns.free,
        columns.status,
      ]}
    >
      {models.map((model) => (
        <ModelRows key={model.id} model={model} />
      ))}
    </Table>
  );
}

/** A row for each price band of a model; the first one has its name. */
function ModelRows({ model }: { readonly model: Model }) {
  return (
    <>
      {model.bands.map((band, index) => (
        <tr key={band.prompt_tokens_max ?? "rest"}>
          <td>
            {index === 0 && <ModelName model={model} />}
            {model.bands.length > 1 && <div className="tiny dim">{bandName(band)}</div>}
          </td>
          <td className="num">
            {index === 0 && (model.context_tokens?.toLocaleString("en") ?? "–")}
          </td>
          <td className="num">
            <Money usd={band.input_usd_per_m} />
          </td>
          <td className="num">
            {band.cached_input_usd_per_m === null ? (
              "–"
            ) : (
              <Money usd={band.cached_input_usd_per_m} />
            )}
          </td>
          <td className="num">
            <Money usd={band.output_usd_per_m} />
          </td>
          <td>
            {index === 0 && model.free_credit_eligible && (
              <Tag tone="free">{t.work.models.yes}</Tag>
            )}
            {index === 0 && !model.free_credit_eligible && t.work.models.no}
          </td>
          <td>
            {index === 0 && (
              <Tag tone={model.is_paused ? "held" : "paid"}>
                {model.is_paused ? t.work.models.paused : t.work.models.ready}
              </Tag>
            )}
          </td>
        </tr>
      ))}
    </>
  );
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
