// Makes a key and shows it once, with lines to copy.

import { Button, Checkbox, Modal, Textarea } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { NewKeyFields } from "../../../src/console/keys-schema.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import { createKey } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { nameOf } from "../name-of.ts";
import { newKeys } from "../new-keys.ts";
import { type Change, DialogFoot, useChange, whenIdle } from "../parts/ask.tsx";
import { Code } from "../parts/code.tsx";
import { Form } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Notice } from "../parts/panel.tsx";
import { TextField, useTyped, useTypedUsd } from "../parts/text-field.tsx";
import { type Account, useMe } from "../session.tsx";
import { envLines, sdkBase } from "../snippets.ts";
import { t } from "../texts.ts";
import { Snippets } from "./first-steps.tsx";
import { NO_LIMITS, useLimitFields } from "./key-limits.tsx";

interface NewKeyProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly account: Account;
  readonly query: UseQueryResult<KeysReply>;
}

export function NewKey({ opened, close, account, query }: NewKeyProps) {
  const [made, setMade] = useState<string | null>(null);
  const change = useChange(async (order: NewKeyFields) => {
    const { key, created } = await createKey(account.id, order);
    newKeys.set(account.id, { id: created.id, key });
    setMade(key);
    await outdateAccount(account.id);
  });
  const end = whenIdle({ busy: change.busy && made === null }, () => {
    close();
    setMade(null);
    change.clear();
  });
  const isApplication = account.surface === "application";
  const title = isApplication ? t.work.keys.createTitleApplication : t.work.keys.createTitle;
  return (
    <Modal
      opened={opened}
      onClose={end}
      size="lg"
      title={made === null ? title : t.work.keys.made}
      // A click beside the dialog must not lose the only sight of a key.
      closeOnClickOutside={made === null}
    >
      {made !== null ? (
        <MadeKey value={made} account={account} close={end} />
      ) : (
        <Loaded query={query} height={120}>
          {(reply) => <KeyForm account={account} reply={reply} change={change} close={end} />}
        </Loaded>
      )}
    </Modal>
  );
}

interface KeyFormProps {
  readonly account: Account;
  readonly reply: KeysReply;
  readonly change: Change<[NewKeyFields]>;
  readonly close: () => void;
}

function KeyForm({ account, reply, change, close }: KeyFormProps) {
  const isApplication = account.surface === "application";
  const inTier = reply.scopes.filter((one) => one.in_tier).map(({ scope }) => scope);
  const name = useTyped("name");
  const limit = useTypedUsd();
  const [scopes, setScopes] = useState<string[]>(isApplication ? ["models"] : inTier);
  const [ips, setIps] = useState("");
  const own = useLimitFields(NO_LIMITS);
  const { models, ends_at: endsAt, ...others } = own.typed;
  const order = () =>
    change.start({
      name: name.text.trim(),
      scopes,
      ip_allowlist: ips.split(/[\s,]+/).filter((one) => one !== ""),
      ...(limit.value !== null && { monthly_limit_usd: limit.value }),
      ...(models !== null && { models }),
      ...(endsAt !== null && { ends_at: endsAt }),
      ...others,
    });
  return (
    <Form submit={() => limit.problem === null && order()}>
      <TextField
        field={name}
        isFirst
        label={t.work.keys.name}
        placeholder={t.work.keys.namePlaceholder}
        required
      />
      {isApplication ? (
        <Checkbox checked readOnly label={t.pair(t.work.keys.permission, t.work.keys.modelsApi)} />
      ) : (
        <ScopeChoice reply={reply} account={account.id} scopes={scopes} change={setScopes} />
      )}
      <TextField field={limit} label={t.work.keys.limit} about={t.work.keys.limitAbout} />
      <Textarea
        label={t.work.keys.ip}
        description={t.work.keys.ipAbout}
        rows={2}
        value={ips}
        onChange={(event) => setIps(event.currentTarget.value)}
      />
      <details>
        <summary className="small">{t.work.keys.limits.more}</summary>
        <div className="stack">{own.fields}</div>
      </details>
      <DialogFoot
        change={change}
        close={close}
        action={t.work.keys.create}
        disabled={scopes.length === 0 || own.isWrong}
      />
    </Form>
  );
}

interface ScopeChoiceProps {
  readonly reply: KeysReply;
  readonly account: string;
  readonly scopes: readonly string[];
  readonly change: (scopes: string[]) => void;
}

function ScopeChoice({ reply, account, scopes, change }: ScopeChoiceProps) {
  return (
    <Checkbox.Group label={t.work.keys.scopes} value={[...scopes]} onChange={change}>
      <div className="choice">
        {reply.scopes.map(({ scope, in_tier: inTier }) => (
          <Checkbox
            key={scope}
            value={scope}
            label={nameOf(t.scopes, scope)}
            {...(!inTier && { description: t.work.keys.notInTier })}
          />
        ))}
      </div>
      {reply.scopes.some(({ in_tier: inTier }) => !inTier) && (
        <Link to="/$account/limits" params={{ account }} className="small">
          {t.work.keys.toTiers}
        </Link>
      )}
    </Checkbox.Group>
  );
}

interface MadeKeyProps {
  readonly value: string;
  readonly account: Account;
  readonly close: () => void;
}

/** The only time that a key is shown. */
function MadeKey({ value, account, close }: MadeKeyProps) {
  const { installation } = useMe();
  const base = sdkBase(installation.base_url, account.surface);
  return (
    <div className="stack">
      <Notice tone="held">{t.work.keys.madeAbout}</Notice>
      <Code text={value} label={t.work.keys.madeLabel} wrap />
      <Code text={envLines(base, value)} label={t.work.keys.envLabel} wrap />
      <Snippets account={account.id} surface={account.surface} keyText={value} />
      <div className="row" data-end="">
        <Button onClick={close}>{t.work.keys.stored}</Button>
      </div>
    </div>
  );
}
