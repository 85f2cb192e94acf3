// The dialog that changes the limits of a key, while the key itself stays.

import { Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { KeyLimitsFields } from "../../../src/console/keys-schema.ts";
import { RATE_MAX } from "../../../src/core/access/key-limits.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import { setKeyLimits } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { Ask, say } from "../parts/ask.tsx";
import { TextField, type Typed } from "../parts/text-field.tsx";
import { t } from "../texts.ts";

type Key = KeysReply["keys"][number];

interface KeyLimitsProps {
  readonly account: string;
  readonly keyRow: Key;
  readonly close: () => void;
}

export function KeyLimits({ account, keyRow, close }: KeyLimitsProps) {
  const words = t.work.keys.limits;
  const [isDisabled, setDisabled] = useState(keyRow.disabled_at !== null);
  const limits = useLimitFields(keyRow);
  const run = async () => {
    const changed = changedIn(keyRow, { disabled: isDisabled, ...limits.typed });
    if (Object.keys(changed).length === 0) return;
    const { applied } = await setKeyLimits(account, keyRow.id, changed);
    say(applied ? words.done : words.soon);
    await outdateAccount(account);
  };
  return (
    <Ask
      opened
      close={close}
      title={words.title(keyRow.name)}
      action={words.save}
      run={run}
      disabled={limits.isWrong}
      calm
    >
      <Switch
        label={words.disabled}
        description={words.disabledAbout}
        checked={isDisabled}
        onChange={(event) => setDisabled(event.currentTarget.checked)}
      />
      {limits.fields}
    </Ask>
  );
}

type Limits = Pick<
  Key,
  | "ends_at"
  | "models"
  | "tags"
  | "requests_per_minute"
  | "requests_per_day"
  | "tokens_per_minute"
  | "tokens_per_day"
>;

/** The limits of a key that has none of its own. */
export const NO_LIMITS: Limits = {
  ends_at: null,
  models: null,
  tags: [],
  requests_per_minute: null,
  requests_per_day: null,
  tokens_per_minute: null,
  tokens_per_day: null,
};

/** The fields of a key's own limits, and the texts in them. */
export function useLimitFields(present: Limits) {
  const words = t.work.keys.limits;
  const [models, setModels] = useState((present.models ?? []).join("\n"));
  const presentEnd = present.ends_at?.slice(0, DATE_LENGTH) ?? "";
  const [end, setEnd] = useState(presentEnd);
  const [tags, setTags] = useState(present.tags.join(", "));
  const minute = useTypedCount(present.requests_per_minute);
  const day = useTypedCount(present.requests_per_day);
  const tokens = useTypedCount(present.tokens_per_minute);
  const tokensDay = useTypedCount(present.tokens_per_day);
  const patterns = models.split(/[\s,]+/).filter((one) => one !== "");
  const typed = {
    // The field has only a day: the key keeps the time of an end that is not changed.
    ends_at: end === presentEnd ? present.ends_at : end === "" ? null : `${end}T00:00:00Z`,
    models: patterns.length === 0 ? null : patterns,
    tags: tags
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
    requests_per_minute: minute.count,
    requests_per_day: day.count,
    tokens_per_minute: tokens.count,
    tokens_per_day: tokensDay.count,
  };
  const fields = (
    <>
      <Textarea
        label={words.models}
        description={words.modelsAbout}
        rows={3}
        value={models}
        onChange={(event) => setModels(event.currentTarget.value)}
      />
      <TextField field={minute} label={words.requestsMinute} about={words.requestsMinuteAbout} />
      <TextField field={day} label={words.requestsDay} about={words.empty} />
      <TextField field={tokens} label={words.tokensMinute} about={words.empty} />
      <TextField field={tokensDay} label={words.tokensDay} about={words.empty} />
      <TextInput
        label={words.tags}
        description={words.tagsAbout}
        value={tags}
        onChange={(event) => setTags(event.currentTarget.value)}
      />
      <TextInput
        type="date"
        label={words.ends}
        description={words.endsAbout}
        value={end}
        onChange={(event) => setEnd(event.currentTarget.value)}
      />
    </>
  );
  const isWrong = [minute, day, tokens, tokensDay].some(({ problem }) => problem !== null);
  return { typed, isWrong, fields };
}

const DATE_LENGTH = "2026-11-28".length;

/** The fields that differ from those of the key. */
function changedIn(key: Key, typed: Required<KeyLimitsFields>): KeyLimitsFields {
  const present: Record<string, unknown> = { ...key, disabled: key.disabled_at !== null };
  const entries = Object.entries(typed).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name]),
  );
  return Object.fromEntries(entries);
}

/** A field for a number, or for nothing. */
function useTypedCount(initial: number | null): Typed & { readonly count: number | null } {
  const [text, type] = useState(initial === null ? "" : String(initial));
  const typed = text.trim();
  const isRight = typed === "" || (/^[1-9]\d{0,9}$/.test(typed) && Number(typed) <= RATE_MAX);
  return {
    kind: "text",
    rule: null,
    text,
    type,
    value: isRight ? typed : null,
    problem: isRight ? null : t.work.keys.limits.wrongCount,
    count: typed === "" || !isRight ? null : Number(typed),
  };
}
