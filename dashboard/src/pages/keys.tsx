// Keys: made, shown once, listed, deleted, and how to replace one.

import { Button, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mayAct } from "../../../src/core/access/roles.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import { serverTime } from "../api/client.ts";
import { keysQuery } from "../api/queries.ts";
import { nameOf } from "../name-of.ts";
import { type Column, columnsOf, type ShownOf } from "../parts/columns.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { Table } from "../parts/table.tsx";
import { useFields } from "../search-fields.ts";
import { type Account, useAccount } from "../session.tsx";
import { t } from "../texts.ts";
import { ago, day, dayTime } from "../time.ts";
import { DeleteKey } from "./delete-key.tsx";
import { KeyLimits } from "./key-limits.tsx";
import { NewKey } from "./new-key.tsx";

type Key = KeysReply["keys"][number];

export function KeysPage() {
  const account = useAccount();
  const query = useQuery(keysQuery(account.id));
  const [fields, change] = useFields();
  const [deleting, setDeleting] = useState<Key | null>(null);
  const [limiting, setLimiting] = useState<Key | null>(null);
  const [showRevoked, setShowRevoked] = useState(false);
  const canChange = mayAct(account.role, "admin");
  const isApplication = account.surface === "application";
  const making = fields.new === "key" && canChange;
  const keys = query.data?.keys ?? [];
  const hasRevoked = keys.some(({ revoked_at: at }) => at !== null);
  return (
    <>
      <PageHead
        title={t.nav.pages.keys}
        about={
          <>
            <SurfaceTag surface={account.surface} />{" "}
            {isApplication ? t.work.keys.aboutApplication : t.work.keys.about}
          </>
        }
      >
        {canChange ? (
          <Button onClick={() => change({ new: "key" })}>{t.work.keys.create}</Button>
        ) : (
          <span className="small dim">{t.states.forbidden(account.role)}</span>
        )}
      </PageHead>
      <div className="panels">
        <Panel>
          <Loaded query={query} height={200}>
            {(reply) => (
              <KeyList
                reply={reply}
                account={account}
                showRevoked={showRevoked}
                change={canChange ? { limit: setLimiting, remove: setDeleting } : null}
                create={canChange ? () => change({ new: "key" }) : null}
              />
            )}
          </Loaded>
          {hasRevoked && (
            <Switch
              size="xs"
              mt="sm"
              label={t.work.keys.showRevoked}
              checked={showRevoked}
              onChange={(event) => setShowRevoked(event.currentTarget.checked)}
            />
          )}
        </Panel>
        <Rotation />
      </div>
      <NewKey
        opened={making}
        close={() => change({ new: undefined })}
        account={account}
        query={query}
      />
      {limiting !== null && (
        <KeyLimits account={account.id} keyRow={limiting} close={() => setLimiting(null)} />
      )}
      {deleting !== null && (
        <DeleteKey account={account.id} keyRow={deleting} close={() => setDeleting(null)} />
      )}
    </>
  );
}

function SurfaceTag({ surface }: Pick<Account, "surface">) {
  return <Tag tone={surface === "application" ? "free" : "plain"}>{t.nav.surfaces[surface]}</Tag>;
}

function Rotation() {
  return (
    <Panel title={t.work.keys.rotate}>
      <ol className="small rotation">
        {t.work.keys.rotateSteps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </Panel>
  );
}

interface KeyListProps {
  readonly reply: KeysReply;
  readonly account: Account;
  readonly showRevoked: boolean;
  /** Null where the role does not include it. */
  readonly change: Readonly<Record<"limit" | "remove", (key: Key) => void>> | null;
  readonly create: (() => void) | null;
}

function KeyList({ reply, account, showRevoked, change, create }: KeyListProps) {
  const keys = reply.keys.filter((key) => showRevoked || key.revoked_at === null);
  if (keys.length === 0) {
    return (
      <Empty title={t.work.keys.none}>
        <p className="small dim">{t.work.keys.noneAbout}</p>
        {create !== null && <Button onClick={create}>{t.work.keys.create}</Button>}
      </Empty>
    );
  }
  const isApplication = account.surface === "application";
  const columns = columnsFor({ prefix: reply.prefix, isApplication, change });
  return <Table columns={columns} rows={keys} keyOf={({ id }) => id} />;
}

interface ColumnTerms extends Pick<KeyListProps, "change"> {
  readonly prefix: string;
  readonly isApplication: boolean;
}

function columnsFor({ prefix, isApplication, change }: ColumnTerms): readonly Column<Key>[] {
  const shown: ShownOf<Key, typeof t.work.keys.columns> = {
    name: (key) => (
      <>
        <span className="strong">{key.name}</span> <KeyState keyRow={key} />
        {key.tags.length > 0 && <div className="tiny dim">{key.tags.join(", ")}</div>}
      </>
    ),
    key: ({ last_four: four }) => (
      <code className="nowrap">
        {prefix}…{four}
      </code>
    ),
    scopes: (key) => <Scopes keyRow={key} isApplication={isApplication} />,
    spent: {
      number: ({ month_spent_usd: spent, monthly_limit_usd: limit }) => (
        <>
          <Money usd={spent} />
          {limit !== null && (
            <div className="tiny dim">
              {t.work.keys.of} <Money usd={limit} />
            </div>
          )}
        </>
      ),
    },
    used: ({ last_used_at: at }) =>
      at === null ? (
        <span className="dim nowrap">{t.states.never}</span>
      ) : (
        <span className="nowrap" title={`${dayTime(at)} UTC`}>
          {ago(at, serverTime())}
        </span>
      ),
    created: ({ created_at: at }) => <span className="nowrap">{day(at)}</span>,
  };
  const show = (key: Key) =>
    change !== null &&
    key.revoked_at === null && (
      <div className="row" data-end="">
        <RowButton of={key.name} onClick={() => change.limit(key)}>
          {t.work.keys.limits.open}
        </RowButton>
        <RowButton of={key.name} onClick={() => change.remove(key)}>
          {t.work.keys.remove}
        </RowButton>
      </div>
    );
  return columnsOf(t.work.keys.columns, shown, { show });
}

interface ScopesProps {
  readonly keyRow: Key;
  readonly isApplication: boolean;
}

/** The states in which a key is refused, and the day of its end. */
function KeyState({ keyRow }: Pick<ScopesProps, "keyRow">) {
  const { revoked_at: revokedAt, disabled_at: disabledAt, ends_at: endsAt } = keyRow;
  if (revokedAt !== null) return <Tag tone="owed">{t.work.keys.revoked}</Tag>;
  const hasEnded = endsAt !== null && Date.parse(endsAt) <= serverTime();
  return (
    <>
      {disabledAt !== null && <Tag tone="owed">{t.work.keys.disabled}</Tag>}
      {hasEnded && <Tag tone="owed">{t.work.keys.ended}</Tag>}
      {endsAt !== null && !hasEnded && (
        <div className="tiny dim" title={`${dayTime(endsAt)} UTC`}>
          {t.work.keys.endsOn(day(endsAt))}
        </div>
      )}
    </>
  );
}

function Scopes({ keyRow, isApplication }: ScopesProps) {
  const { scopes, ip_allowlist: ips, models } = keyRow;
  return (
    <>
      {isApplication
        ? t.work.keys.modelsApi
        : t.list(scopes.map((scope) => nameOf(t.scopes, scope)))}
      {models !== null && (
        <div className="tiny dim" title={models.join("\n")}>
          {models.length === 1 ? models[0] : t.work.keys.modelCount(models.length)}
        </div>
      )}
      {ips.length > 0 && (
        <div className="tiny dim" title={ips.join("\n")}>
          {t.work.keys.ipCount(ips.length)}
        </div>
      )}
    </>
  );
}
