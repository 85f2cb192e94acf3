// The signed receipt of a request, which is issued when somebody first asks for it.

import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { issuedReceiptQuery } from "../../api/queries.ts";
import { Loaded } from "../../parts/loaded.tsx";
import { SignedText } from "../../parts/signed-text.tsx";
import { t } from "../../texts.ts";

interface SignedReceiptProps {
  readonly account: string;
  readonly request: string;
}

const HEIGHT = 200;

/** A button that opens the receipt. */
export function SignedReceipt({ account, request }: SignedReceiptProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
        {t.signed.receipt}
      </Button>
      {isOpen && (
        <Modal opened onClose={() => setOpen(false)} title={t.signed.receipt} size="lg">
          <Issued account={account} request={request} />
        </Modal>
      )}
    </>
  );
}

function Issued({ account, request }: SignedReceiptProps) {
  const query = useQuery(issuedReceiptQuery(account, request));
  return (
    <Loaded query={query} height={HEIGHT}>
      {(receipt) => (
        <>
          <p className="small">{t.signed.about}</p>
          <p className="small">
            {t.signed.number(receipt.number)}
            {receipt.corrects !== null && ` · ${t.signed.corrects(receipt.corrects)}`}
          </p>
          <SignedText
            jws={receipt.jws}
            reply={receipt}
            file={`receipt-${request}.json`}
            label={t.signed.receipt}
          />
        </>
      )}
    </Loaded>
  );
}
