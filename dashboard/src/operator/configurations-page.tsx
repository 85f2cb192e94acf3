// The configuration that all processes share: its versions, the text of each, and the way back.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ConfigurationsReply } from "../../../src/readings/configurations.ts";
import { nameOf } from "../name-of.ts";
import { Code } from "../parts/code.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Notice, PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { ActButton } from "./act-dialog.tsx";
import { configurationQuery, configurationsQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";

type Version = ConfigurationsReply["versions"][number];

const words = ot.configurations;
const CHANGES_SHOWN_MAX = 5;

const columnsFor = (inForce: number | null): readonly Column<Version>[] =>
  columnsOf(
    ot.columns,
    {
      version: ({ version, rolls_back_to: of }) => (
        <>
          {version} {version === inForce && <Tag tone="paid">{words.inForce}</Tag>}
          {of !== null && <div className="tiny dim">{words.backTo(of)}</div>}
        </>
      ),
      at: "at",
      who: ({ actor }) => nameOf(t.people.actors, actor),
      why: "note",
      changes: (row) => <Changes row={row} />,
    },
    { title: words.show, show: (row) => <Actions row={row} isInForce={row.version === inForce} /> },
  );

function Changes({ row: { changes } }: { readonly row: Version }) {
  const more = changes.length - CHANGES_SHOWN_MAX;
  if (changes.length === 0) return <div className="small">{words.textOnly}</div>;
  return (
    <>
      {changes.slice(0, CHANGES_SHOWN_MAX).map((line) => (
        <div key={line} className="small" lang="en">
          {line}
        </div>
      ))}
      {more > 0 && <div className="tiny dim">{words.more(more)}</div>}
    </>
  );
}

interface ActionsProps {
  readonly row: Version;
  readonly isInForce: boolean;
}

function Actions({ row: { version }, isInForce }: ActionsProps) {
  const [fields, change] = useFields();
  const isShown = fields.version === String(version);
  const name = isShown ? words.hide : words.show;
  return (
    <div className="row">
      <Button
        size="compact-xs"
        variant="default"
        aria-label={t.pair(name, String(version))}
        onClick={() => change({ version: isShown ? undefined : String(version) })}
      >
        {name}
      </Button>
      {!isInForce && (
        <ActButton
          name="rollback"
          path="configurations/rollback"
          body={{ version }}
          confirm={words.confirm(version)}
          small
          of={String(version)}
        />
      )}
    </div>
  );
}

export function ConfigurationsPage() {
  const [fields] = useFields();
  const query = useQuery({
    ...configurationsQuery({ before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.configurations} about={words.about} />
      <div className="panels">
        <Panel>
          <Paged query={query}>
            {({ versions, in_force: inForce, running, refused }) => (
              <>
                {refused !== null && (
                  <Notice tone="owed">
                    {refused.split("\n").map((line) => (
                      <p key={line} lang="en">
                        {line}
                      </p>
                    ))}
                  </Notice>
                )}
                {inForce !== null && <p className="small dim">{words.runs(running)}</p>}
                <Table
                  rows={versions}
                  keyOf={({ version }) => String(version)}
                  columns={columnsFor(inForce)}
                  label={ot.nav.pages.configurations}
                  none={words.none}
                />
              </>
            )}
          </Paged>
        </Panel>
        {fields.version !== undefined && <Shown version={fields.version} />}
      </div>
    </>
  );
}

function Shown({ version }: { readonly version: string }) {
  const query = useQuery(configurationQuery(version));
  const title = words.text(version);
  return (
    <Panel title={title}>
      <Loaded query={query}>{({ text }) => <Code text={text} label={title} />}</Loaded>
    </Panel>
  );
}
