// An application account is made on demand, beside the Gateway account.

import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { openApplicationAccount } from "../../api/people.ts";
import { meQuery, queryClient } from "../../api/queries.ts";
import { Ask } from "../../parts/ask.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { useFields } from "../../search-fields.ts";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";

export function NewAccount() {
  const [fields, change] = useFields();
  const name = useTyped("name");
  const navigate = useNavigate();
  const { accounts } = useMe();
  const hasOne = accounts.some(
    ({ surface, role, state }) =>
      surface === "application" && role === "owner" && state !== "closed",
  );
  const run = async () => {
    const { id } = await openApplicationAccount(name.text.trim());
    await queryClient.invalidateQueries(meQuery);
    await navigate({ to: "/$account/overview", params: { account: id } });
  };
  return (
    <Panel title={t.people.newAccount}>
      <div className="stack">
        <p className="small">{t.people.newAccountAbout}</p>
        {hasOne && <p className="small dim">{t.people.oneApplicationAccount}</p>}
        <div>
          <Button
            size="xs"
            variant="default"
            disabled={hasOne}
            onClick={() => change({ new: "account" })}
          >
            {t.people.newAccountAction}
          </Button>
        </div>
      </div>
      <Ask
        opened={fields.new === "account" && !hasOne}
        close={() => change({ new: undefined })}
        title={t.people.newAccount}
        action={t.people.newAccountAction}
        run={run}
        disabled={name.value === null}
        calm
      >
        <p className="small">{t.people.newAccountAbout}</p>
        <TextField field={name} isFirst label={t.people.accountName} />
      </Ask>
    </Panel>
  );
}
