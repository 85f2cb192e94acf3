// The dialogs that add a webhook, change it, rotate its secret, and send failed events again.

import { Button, Checkbox, Modal, Select, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { serverTime } from "../../api/client.ts";
import { outdateAccount } from "../../api/queries.ts";
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  replayWebhook,
  rotateWebhook,
  type Webhook,
  webhooksQuery,
} from "../../api/webhooks.ts";
import { Ask, type Change, DialogFoot, say, useChange, whenIdle } from "../../parts/ask.tsx";
import { Code } from "../../parts/code.tsx";
import { Form } from "../../parts/form.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Notice } from "../../parts/panel.tsx";
import { TextField, type Typed, useTyped } from "../../parts/text-field.tsx";
import { t } from "../../texts.ts";
import { isoOf } from "../../time.ts";

interface DialogProps {
  readonly account: string;
  readonly close: () => void;
}

interface OneProps extends DialogProps {
  readonly webhook: Webhook;
}

/** Adds a webhook, and shows its secret once. */
export function AddWebhook({ account, close }: DialogProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const form = useTerms(null);
  // The id is made once, so that a second click after a lost answer adds no second webhook.
  const [request] = useState(() => crypto.randomUUID());
  const change = useChange(async () => {
    const made = await addWebhook(account, { ...form.terms(), request });
    setSecret(made.secret);
    await outdateAccount(account);
  });
  if (secret !== null) return <Secret value={secret} close={close} />;
  return (
    <Modal opened onClose={whenIdle(change, close)} size="lg" title={t.webhooks.add}>
      <TermsForm
        account={account}
        form={form}
        change={change}
        action={t.webhooks.add}
        close={close}
      />
    </Modal>
  );
}

/** Changes a webhook, and leads to the other actions on the webhook. */
export function ChangeWebhook({ account, webhook, close }: OneProps) {
  const [act, setAct] = useState<"rotate" | "remove" | "replay" | null>(null);
  const form = useTerms(webhook);
  const [enabled, setEnabled] = useState(webhook.enabled);
  const change = useChange(async () => {
    await changeWebhook(account, webhook.id, { ...form.terms(), enabled });
    say(t.webhooks.changed);
    await outdateAccount(account);
    close();
  });
  const one = { account, webhook, close };
  if (act === "rotate") return <Rotate {...one} />;
  if (act === "remove") return <Remove {...one} />;
  if (act === "replay") return <Replay {...one} />;
  return (
    <Modal opened onClose={whenIdle(change, close)} size="lg" title={t.webhooks.title}>
      <div className="stack">
        <div className="row">
          <Button size="xs" variant="default" onClick={() => setAct("rotate")}>
            {t.webhooks.rotate}
          </Button>
          {webhook.enabled && (
            <Button size="xs" variant="default" onClick={() => setAct("replay")}>
              {t.webhooks.replay}
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => setAct("remove")}>
            {t.webhooks.remove}
          </Button>
        </div>
        <TermsForm
          account={account}
          form={form}
          change={change}
          action={t.actions.save}
          close={close}
        >
          <Switch
            label={t.webhooks.enabled}
            checked={enabled}
            onChange={(event) => setEnabled(event.currentTarget.checked)}
          />
        </TermsForm>
      </div>
    </Modal>
  );
}

interface TermsState {
  readonly url: Typed;
  readonly note: Typed;
  readonly events: readonly string[];
  readonly choose: (events: string[]) => void;
  readonly terms: () => Pick<Webhook, "url" | "description" | "events">;
}

function useTerms(webhook: Webhook | null): TermsState {
  const url = useTyped("webhookUrl", webhook?.url);
  const note = useTyped("webhookNote", webhook?.description);
  const [events, choose] = useState<readonly string[]>(webhook?.events ?? []);
  const terms = () => ({
    url: url.text.trim(),
    description: note.text.trim(),
    // The server refuses any other type by name.
    events: events as Webhook["events"],
  });
  return { url, note, events, choose, terms };
}

interface TermsFormProps extends DialogProps {
  readonly form: TermsState;
  readonly change: Change;
  readonly action: string;
  readonly children?: React.ReactNode;
}

function TermsForm({ account, form, change, action, children, close }: TermsFormProps) {
  const query = useQuery(webhooksQuery(account));
  return (
    <Form submit={change.start}>
      <TextField
        field={form.url}
        isFirst
        label={t.webhooks.url}
        about={t.webhooks.urlAbout}
        placeholder={t.webhooks.urlPlaceholder}
        required
      />
      <TextField
        field={form.note}
        label={t.webhooks.note}
        placeholder={t.webhooks.notePlaceholder}
      />
      <Loaded query={query} height={160}>
        {({ types }) => (
          <Checkbox.Group label={t.webhooks.types} value={[...form.events]} onChange={form.choose}>
            <div className="choice">
              {types.map(({ type, about }) => (
                <Checkbox
                  key={type}
                  value={type}
                  label={type}
                  description={t.webhooks.typeAbout(type, about)}
                />
              ))}
            </div>
          </Checkbox.Group>
        )}
      </Loaded>
      {children}
      <DialogFoot
        change={change}
        close={close}
        action={action}
        disabled={form.events.length === 0 || form.url.value === null}
      />
    </Form>
  );
}

/** The only time that a secret is shown. */
function Secret({ value, close }: { readonly value: string; readonly close: () => void }) {
  return (
    <Modal opened onClose={close} title={t.webhooks.secretTitle} closeOnClickOutside={false}>
      <div className="stack">
        <Notice tone="held">{t.webhooks.secretAbout}</Notice>
        <Code text={value} label={t.webhooks.secretLabel} wrap />
        <div className="row" data-end="">
          <Button onClick={close}>{t.webhooks.stored}</Button>
        </div>
      </div>
    </Modal>
  );
}

function Rotate({ account, webhook, close }: OneProps) {
  const [secret, setSecret] = useState<string | null>(null);
  // The id is made once, so that a second click after a lost answer shows the secret of the first.
  const [request] = useState(() => crypto.randomUUID());
  const change = useChange(async () => {
    const { secret: made } = await rotateWebhook(account, webhook.id, request);
    setSecret(made);
    await outdateAccount(account);
  });
  if (secret !== null) return <Secret value={secret} close={close} />;
  return (
    <Modal opened onClose={whenIdle(change, close)} title={t.webhooks.rotateTitle}>
      <Form submit={change.start}>
        <p className="small">{t.webhooks.rotateAbout}</p>
        <DialogFoot change={change} close={close} action={t.webhooks.rotate} />
      </Form>
    </Modal>
  );
}

function Remove({ account, webhook, close }: OneProps) {
  const run = async () => {
    await deleteWebhook(account, webhook.id);
    await outdateAccount(account);
  };
  return (
    <Ask
      opened
      close={close}
      title={t.webhooks.removeTitle}
      action={t.webhooks.remove}
      run={run}
      done={t.webhooks.removed}
    >
      <p className="small words">
        <code>{webhook.url}</code>
      </p>
      <p className="small">{t.webhooks.removeAbout}</p>
    </Ask>
  );
}

const HOURS = { hour: 1, day: 24, week: 7 * 24, month: 30 * 24 } as const;
const HOUR_MS = 3_600_000;

type Span = keyof typeof HOURS;

function Replay({ account, webhook, close }: OneProps) {
  const [span, setSpan] = useState<Span>("day");
  const run = async () => {
    const since = isoOf(serverTime() - HOURS[span] * HOUR_MS);
    say(t.webhooks.replayed(await replayWebhook(account, webhook.id, since)));
    await outdateAccount(account);
  };
  return (
    <Ask
      opened
      calm
      close={close}
      title={t.webhooks.replayTitle}
      action={t.webhooks.replay}
      run={run}
    >
      <p className="small">{t.webhooks.replayAbout}</p>
      <Select
        label={t.webhooks.replaySince}
        data={Object.entries(t.webhooks.spans).map(([value, label]) => ({ value, label }))}
        value={span}
        allowDeselect={false}
        onChange={(value) => setSpan((value ?? "day") as Span)}
      />
    </Ask>
  );
}
