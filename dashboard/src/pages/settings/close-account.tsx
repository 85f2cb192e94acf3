// Closes an account, after the reader typed its name and gave a proof.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { closeAccount } from "../../api/people.ts";
import { meQuery, overviewQuery, queryClient } from "../../api/queries.ts";
import { isZero, moneyText } from "../../money.ts";
import { Ask } from "../../parts/ask.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ProofFields, useProof } from "../../parts/proof-fields.tsx";
import { TextField, useConfirmation } from "../../parts/text-field.tsx";
import type { Account } from "../../session.tsx";
import { t } from "../../texts.ts";

export function CloseAccount({ account }: { readonly account: Account }) {
  const [asking, setAsking] = useState(false);
  const isOwner = account.role === "owner";
  const isClosed = account.state === "closed";
  return (
    <Panel title={t.people.close}>
      <div className="stack">
        <p className="small">{isClosed ? t.work.state.closed : t.people.closeAbout}</p>
        {!isOwner && <p className="small dim">{t.people.closeByOwner}</p>}
        {isOwner && !isClosed && (
          <div>
            <Button size="xs" color="red" variant="outline" onClick={() => setAsking(true)}>
              {t.people.closeAction}
            </Button>
          </div>
        )}
      </div>
      {asking && <Confirm account={account} close={() => setAsking(false)} />}
    </Panel>
  );
}

interface ConfirmProps {
  readonly account: Account;
  readonly close: () => void;
}

function Confirm({ account, close }: ConfirmProps) {
  const { data } = useQuery(overviewQuery(account.id));
  const { proof, setProof, give } = useProof();
  const typed = useConfirmation(account.name);
  const run = async () => {
    if (proof === null) return;
    await give();
    await closeAccount(account.id);
    await queryClient.invalidateQueries(meQuery);
    await queryClient.invalidateQueries({ queryKey: [account.id] });
  };
  const left = data?.balance.paid_usd ?? "0";
  return (
    <Ask
      opened
      close={close}
      title={t.people.closeTitle(account.name)}
      action={t.people.closeAction}
      run={run}
      done={t.people.closed}
      disabled={typed.value === null || proof === null}
    >
      <p className="small">{t.people.closeAbout}</p>
      {!isZero(left) && <p className="small danger">{t.people.closeLeft(moneyText(left))}</p>}
      <TextField
        field={typed}
        isFirst
        label={t.fields.typeToConfirm(account.name)}
        autoComplete="off"
      />
      <ProofFields change={setProof} />
    </Ask>
  );
}
