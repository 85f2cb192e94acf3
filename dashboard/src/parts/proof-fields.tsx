// Asks the signed-in person for the password again, or for a mailed code if they have none.

import { Button } from "@mantine/core";
import { useState } from "react";
import { FORM_FIELDS } from "../../../src/core/text/form-fields.ts";
import { type MailedReply, sendCode } from "../api/auth.ts";
import { type Proof, prove } from "../api/people.ts";
import { CodeInput } from "../entry/code.tsx";
import { Mailed } from "../entry/mailed.tsx";
import { useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { Problem, useChange } from "./ask.tsx";
import { CurrentPassword } from "./current-password.tsx";
import { useTyped } from "./text-field.tsx";

/** The proof that a dialog asks for, and giving it to the server. */
export function useProof() {
  const [proof, setProof] = useState<Proof | null>(null);
  const [given, setGiven] = useState<Proof | null>(null);
  /** A mailed code works once: a second try of the change does not send the code again. */
  const give = async () => {
    if (proof === null || (proof === given && "otp" in proof)) return;
    await prove(proof);
    setGiven(proof);
  };
  return { proof, setProof, give };
}

interface ProofFieldsProps {
  /** Called with the proof, or with null while the proof is not complete. */
  readonly change: (proof: Proof | null) => void;
}

export function ProofFields({ change }: ProofFieldsProps) {
  const { person } = useMe();
  const password = useTyped("password");
  const [code, setCode] = useState("");
  const [byCode, setByCode] = useState(false);
  const [sent, setSent] = useState<MailedReply | null>(null);
  const asking = useChange(async () => setSent(await sendCode(person.email)));
  const typePassword = (text: string) => {
    password.type(text);
    change(text === "" ? null : { password: text });
  };
  const typeCode = (text: string) => {
    setCode(text);
    change(text.length === FORM_FIELDS.code.charactersMin ? { otp: text } : null);
  };
  const turn = () => {
    setByCode(!byCode);
    password.type("");
    setCode("");
    change(null);
  };
  return (
    <div className="stack">
      {!byCode && <CurrentPassword field={{ ...password, type: typePassword }} />}
      {byCode && sent === null && (
        <div>
          <Button
            size="xs"
            variant="default"
            loading={asking.busy}
            onClick={() => void asking.start()}
          >
            {t.people.sendCode}
          </Button>
          <Problem error={asking.error} />
        </div>
      )}
      {byCode && sent !== null && (
        <>
          <p className="small">{t.entry.codeSent(person.email)}</p>
          <CodeInput value={code} change={typeCode} />
          <Mailed mailed={sent.development ?? null} />
        </>
      )}
      <button type="button" className="row-link link small" onClick={turn}>
        {byCode ? t.people.usePassword : t.people.useCode}
      </button>
    </div>
  );
}
