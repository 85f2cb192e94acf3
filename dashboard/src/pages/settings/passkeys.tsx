// The passkeys of a person: listed, added and removed, each after a proof of identity.

import { Button } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PasskeysReply } from "../../../../src/console/people/passkeys-schema.ts";
import { RequestError } from "../../api/client.ts";
import { addPasskey, canUsePasskeys, listPasskeys, removePasskey } from "../../api/passkeys.ts";
import { meQuery, queryClient } from "../../api/queries.ts";
import { Ask } from "../../parts/ask.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ProofFields, useProof } from "../../parts/proof-fields.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { Table } from "../../parts/table.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

type Passkey = PasskeysReply["passkeys"][number];

const KEY = ["passkeys"];

export const passkeysQuery = queryOptions({ queryKey: KEY, queryFn: listPasskeys });

export function PasskeysPanel() {
  const query = useQuery(passkeysQuery);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  const { person } = useMe();
  const canAdd = canUsePasskeys();
  return (
    <Panel title={t.people.passkeys}>
      <div className="stack">
        <p className="small">{t.people.passkeysAbout}</p>
        <Loaded query={query} height={40}>
          {({ passkeys }) => <PasskeyTable passkeys={passkeys} remove={setRemoving} />}
        </Loaded>
        {!canAdd && <p className="small dim">{t.people.passkeysImpossible}</p>}
        {person.second_factor === "needs_link" ? (
          <p className="small dim">{t.people.needsLink}</p>
        ) : (
          <div>
            <Button size="xs" variant="default" disabled={!canAdd} onClick={() => setAdding(true)}>
              {t.people.addPasskey}
            </Button>
          </div>
        )}
      </div>
      {adding && <AddPasskey close={() => setAdding(false)} />}
      {removing !== null && <Remove passkey={removing} close={() => setRemoving(null)} />}
    </Panel>
  );
}

interface PasskeyTableProps {
  readonly passkeys: readonly Passkey[];
  readonly remove: (passkey: Passkey) => void;
}

function PasskeyTable({ passkeys, remove }: PasskeyTableProps) {
  const columns: readonly Column<Passkey>[] = columnsOf(
    t.people.passkeyColumns,
    {
      name: "name",
      added: "created_at",
      used: ({ used_at: at }) => (
        <span className="nowrap">{at === null ? t.people.neverUsed : dayTime(at)}</span>
      ),
    },
    {
      show: (passkey) => (
        <RowButton of={passkey.name} onClick={() => remove(passkey)}>
          {t.people.remove}
        </RowButton>
      ),
    },
  );
  return (
    <Table columns={columns} rows={passkeys} keyOf={({ id }) => id} none={t.people.noPasskeys} />
  );
}

interface AddPasskeyProps {
  readonly close: () => void;
  /** True right after a sign-in: the person is asked only if the server wants it. */
  readonly isProved?: boolean;
}

export function AddPasskey({ close, isProved = false }: AddPasskeyProps) {
  const { person } = useMe();
  const name = useTyped("name");
  const [asks, setAsks] = useState(!isProved);
  const { proof, setProof, give } = useProof();
  const run = async () => {
    if (asks) await give();
    try {
      await addPasskey(name.text.trim());
    } catch (error) {
      if (error instanceof RequestError && error.code === "sign_in_again") setAsks(true);
      throw error;
    }
    await queryClient.invalidateQueries({ queryKey: KEY });
    await queryClient.invalidateQueries(meQuery);
  };
  return (
    <Ask
      opened
      close={close}
      title={t.people.addPasskey}
      action={t.actions.continue}
      run={run}
      done={t.people.passkeyAdded(name.text.trim())}
      disabled={name.value === null || (asks && proof === null)}
      calm
    >
      <TextField
        field={name}
        isFirst
        label={t.people.passkeyName}
        about={t.people.passkeyNameHint}
        autoComplete="off"
      />
      {person.second_factor === "off" && <p className="small">{t.people.otherSessionsEnd}</p>}
      {asks && <ProofFields change={setProof} />}
    </Ask>
  );
}

interface RemoveProps {
  readonly passkey: Passkey;
  readonly close: () => void;
}

function Remove({ passkey, close }: RemoveProps) {
  const { proof, setProof, give } = useProof();
  const run = async () => {
    if (proof === null) return;
    await give();
    await removePasskey(passkey.id);
    await queryClient.invalidateQueries({ queryKey: KEY });
  };
  return (
    <Ask
      opened
      close={close}
      title={t.people.removePasskey(passkey.name)}
      action={t.people.remove}
      run={run}
      done={t.people.passkeyRemoved(passkey.name)}
      disabled={proof === null}
    >
      <p className="small">{t.people.removePasskeyAbout}</p>
      <ProofFields change={setProof} />
    </Ask>
  );
}
