// A signed text: to copy, to save, and how to verify it.

import { Button } from "@mantine/core";
import { DOCS_URL } from "../addresses.ts";
import { download } from "../csv.ts";
import { t } from "../texts.ts";
import { Code } from "./code.tsx";

const JSON_TYPE = "application/json";

interface SignedTextProps {
  readonly jws: string;
  /** The reply with the text, which `farebox` verifies as it is. */
  readonly reply: object;
  /** The name of its file. */
  readonly file: string;
  readonly label: string;
}

/** A compact JWS with a button that saves it. */
export function SignedText({ jws, reply, file, label }: SignedTextProps) {
  const save = () => download(file, `${JSON.stringify(reply, null, 2)}\n`, JSON_TYPE);
  return (
    <div className="stack">
      <Code text={jws} label={label} wrap />
      <div className="row" data-apart="">
        <a className="small" href={`${DOCS_URL}/receipts`} target="_blank" rel="noreferrer">
          {t.signed.verify}
        </a>
        <Button size="xs" variant="default" onClick={save}>
          {t.signed.save}
        </Button>
      </div>
    </div>
  );
}
