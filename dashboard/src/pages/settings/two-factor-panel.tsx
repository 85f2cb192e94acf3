// The second factor: turned on with a picture for the app and backup codes, turned off with the
// password.

import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { renderSVG } from "uqr";
import { FORM_FIELDS } from "../../../../src/core/text/form-fields.ts";
import { beginTwoFactor, endTwoFactor, type NewTwoFactor, verifyTotp } from "../../api/auth.ts";
import { meQuery, queryClient } from "../../api/queries.ts";
import { CodeInput } from "../../entry/code.tsx";
import { Ask, DialogFoot, say, useChange } from "../../parts/ask.tsx";
import { Code } from "../../parts/code.tsx";
import { CurrentPassword, NoPassword } from "../../parts/current-password.tsx";
import { Form } from "../../parts/form.tsx";
import { Panel, Tag } from "../../parts/panel.tsx";
import { useTyped } from "../../parts/text-field.tsx";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";
import { NeedsLink } from "./needs-link.tsx";

export function TwoFactorPanel() {
  const { person } = useMe();
  const [asking, setAsking] = useState(false);
  const [begun, setBegun] = useState<NewTwoFactor | null>(null);
  const password = useTyped("password");
  const isOn = person.has_two_factor;
  const run = async () => {
    if (isOn) {
      await endTwoFactor(password.text);
      await queryClient.invalidateQueries(meQuery);
      say(t.people.twoFactorIsOff);
    } else {
      setBegun(await beginTwoFactor(password.text));
    }
    password.type("");
  };
  return (
    <Panel
      title={t.people.app}
      aside={<Tag tone={isOn ? "paid" : "plain"}>{isOn ? t.people.on : t.people.off}</Tag>}
    >
      <div className="stack">
        <p className="small">{t.people.twoFactorAbout}</p>
        {person.second_factor === "needs_link" ? (
          <NeedsLink />
        ) : (
          <div>
            <Button size="xs" variant="default" onClick={() => setAsking(true)}>
              {isOn ? t.people.turnOff : t.people.turnOn}
            </Button>
          </div>
        )}
      </div>
      <Ask
        opened={asking}
        close={() => setAsking(false)}
        title={isOn ? t.people.twoFactorOff : t.people.twoFactorOn}
        action={isOn ? t.people.turnOff : t.actions.continue}
        run={run}
        disabled={password.value === null}
        calm={!isOn}
      >
        {!isOn && <p className="small">{t.people.otherSessionsEnd}</p>}
        <CurrentPassword field={password} isFirst />
        <NoPassword />
      </Ask>
      <Modal
        opened={begun !== null}
        onClose={() => setBegun(null)}
        title={t.people.twoFactorOn}
        closeOnClickOutside={false}
      >
        {begun !== null && <Setup begun={begun} close={() => setBegun(null)} />}
      </Modal>
    </Panel>
  );
}

interface SetupProps {
  readonly begun: NewTwoFactor;
  readonly close: () => void;
}

function Setup({ begun, close }: SetupProps) {
  const [code, setCode] = useState("");
  const change = useChange(async () => {
    await verifyTotp(code);
    await queryClient.invalidateQueries(meQuery);
    say(t.people.twoFactorIsOn);
    close();
  });
  const secret = new URL(begun.totpURI).searchParams.get("secret") ?? "";
  const picture = `data:image/svg+xml,${encodeURIComponent(renderSVG(begun.totpURI))}`;
  return (
    <Form submit={change.start}>
      <p className="small">{t.people.scan}</p>
      <img src={picture} alt={t.people.qr} width={180} height={180} className="picture" />
      <Code text={secret} label={t.people.secret} wrap />
      <p className="small">{t.people.backupAbout}</p>
      <Code text={begun.backupCodes.join("\n")} label={t.people.backupCodes} />
      <p className="small">{t.people.confirmCode}</p>
      <CodeInput value={code} change={setCode} />
      <DialogFoot
        change={change}
        close={close}
        action={t.people.turnOn}
        disabled={code.length < FORM_FIELDS.code.charactersMin}
      />
    </Form>
  );
}
