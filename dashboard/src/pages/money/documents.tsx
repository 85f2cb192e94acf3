// The invoice of a payment and its credit notes. The addresses of documents end after some time, so
// the addresses are asked for when somebody opens the list.

import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { documentsQuery } from "../../api/queries.ts";
import { moneyText } from "../../money.ts";
import { Loaded } from "../../parts/loaded.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

export interface DocumentsProps {
  readonly account: string;
  readonly payment: string;
}

const HEIGHT = 60;

/** A button that opens the list. */
export function Documents({ account, payment }: DocumentsProps) {
  const [isOpen, setOpen] = useState(false);
  const words = t.billing.documents;
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        aria-label={t.pair(words.open, payment)}
        onClick={() => setOpen(true)}
      >
        {words.open}
      </Button>
      {isOpen && (
        <Modal opened onClose={() => setOpen(false)} title={words.title}>
          <List account={account} payment={payment} />
        </Modal>
      )}
    </>
  );
}

function List({ account, payment }: DocumentsProps) {
  const query = useQuery(documentsQuery(account, payment));
  const words = t.billing.documents;
  return (
    <Loaded query={query} height={HEIGHT}>
      {({ documents }) => (
        <>
          {documents.length === 0 && <p className="small dim">{words.none}</p>}
          <ul className="plain-list">
            {documents.map(({ kind, number, url, amount_usd: usd, issued_at: at }) => (
              <li key={url} className="row" data-apart="">
                <a href={url} target="_blank" rel="noreferrer">
                  {words.kinds[kind]} {number}
                </a>
                <span className="small dim tabular">
                  {moneyText(usd)} · {dayTime(at)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}
