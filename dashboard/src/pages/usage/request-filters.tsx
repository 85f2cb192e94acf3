// The filters of the request log. A typed filter counts after Enter, or when its field is left.

import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SERVICE_NAMES } from "../../../../src/core/access/services.ts";
import { CALL_STATUSES } from "../../../../src/core/usage-query.ts";
import { keysQuery } from "../../api/queries.ts";
import { typedUsd, typingOf } from "../../money.ts";
import type { Fields } from "../../search-fields.ts";
import { t } from "../../texts.ts";
import { fromWall, isoOf, zoneOffsetMs } from "../../time.ts";
import { useZone } from "../../zone.ts";

/** The fields of the address that the server filters by. */
export const FILTERS = [
  "service",
  "model",
  "key",
  "tag",
  "status",
  "code",
  "run",
  "end_user",
  "request",
  "min_cost_usd",
  "from",
  "to",
] as const;

/** The filters that are hidden at first. */
const MORE = ["model", "code", "run", "end_user", "min_cost_usd", "from", "to"] as const;

interface FiltersProps {
  readonly account: string;
  readonly fields: Fields;
  readonly change: (some: Fields) => void;
}

/** Calls of no service are of the account. */
const SERVICES = [...SERVICE_NAMES, "account"] as const;

type Choices = readonly (string | { readonly value: string; readonly label: string })[];
type Lists = Readonly<Record<"service" | "status" | "key", Choices> & { readonly tag?: Choices }>;

export function RequestFilters({ account, fields, change }: FiltersProps) {
  const keys = useQuery(keysQuery(account)).data?.keys ?? [];
  const tags = [...new Set(keys.flatMap((key) => key.tags))].toSorted();
  const set = (name: string, value: string | null) => {
    change({ [name]: value === null || value === "" ? undefined : value, before: undefined });
  };
  const [isOpen, setOpen] = useState(MORE.some((name) => fields[name] !== undefined));
  const isFiltered = FILTERS.some((name) => fields[name] !== undefined);
  const none = Object.fromEntries(FILTERS.map((name) => [name, undefined]));
  const lists: Lists = {
    service: SERVICES.map((id) => ({ value: id as string, label: t.services[id] })),
    status: CALL_STATUSES.map((id) => ({
      value: id as string,
      label: t.usage.statuses[id],
    })),
    key: keys.map(({ id, name }) => ({ value: id, label: name })),
    ...(tags.length > 0 && { tag: tags }),
  };
  return (
    <div className="row filters">
      {(Object.keys(lists) as (keyof Lists)[]).map((name) => (
        <Select
          key={name}
          size="xs"
          w={130}
          clearable
          allowDeselect
          clearButtonProps={{ "aria-label": t.pair(t.actions.clear, t.usage.filters[name]) }}
          aria-label={t.usage.filters[name]}
          placeholder={t.usage.filters[name]}
          data={lists[name] ?? []}
          value={fields[name] ?? null}
          onChange={(value) => set(name, value)}
        />
      ))}
      <Typed name="request" label={t.usage.filters.request} fields={fields} set={set} />
      {isOpen && (
        <>
          <Typed name="model" label={t.usage.filters.model} fields={fields} set={set} />
          <Typed name="code" label={t.usage.filters.code} fields={fields} set={set} />
          <Typed name="run" label={t.usage.filters.run} fields={fields} set={set} />
          <Typed name="end_user" label={t.usage.filters.endUser} fields={fields} set={set} />
          <Typed name="min_cost_usd" label={t.usage.filters.min} fields={fields} set={set} money />
          <TimeField name="from" label={t.usage.filters.from} fields={fields} set={set} />
          <TimeField name="to" label={t.usage.filters.to} fields={fields} set={set} />
        </>
      )}
      <Button size="compact-xs" variant="subtle" onClick={() => setOpen(!isOpen)}>
        {isOpen ? t.usage.fewerFilters : t.usage.moreFilters}
      </Button>
      {isFiltered && (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => change({ ...none, before: undefined })}
        >
          {t.usage.clear}
        </Button>
      )}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly fields: Fields;
  readonly set: (name: string, value: string | null) => void;
  readonly money?: boolean;
}

function Typed({ name, label, fields, set, money = false }: FieldProps) {
  const given = fields[name] ?? "";
  return <TypedField key={given} name={name} label={label} given={given} set={set} money={money} />;
}

interface TypedFieldProps extends Omit<FieldProps, "fields"> {
  readonly given: string;
}

function TypedField({ name, label, given, set, money }: TypedFieldProps) {
  const [text, setText] = useState(money === true ? typingOf(given) : given);
  const value = money === true && text !== "" ? typedUsd(text) : text.trim();
  const apply = () => {
    if (value !== null && value !== given) set(name, value);
  };
  return (
    <TextInput
      size="xs"
      w={name === "request" ? 170 : 130}
      aria-label={label}
      placeholder={label}
      value={text}
      error={value === null}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
    />
  );
}

const MINUTES_LENGTH = "2026-01-01T00:00".length;

function TimeField({ name, label, fields, set }: FieldProps) {
  const [zone] = useZone();
  const ms = Date.parse(fields[name] ?? "");
  const shown = Number.isFinite(ms)
    ? isoOf(ms + zoneOffsetMs(ms, zone)).slice(0, MINUTES_LENGTH)
    : "";
  const change = (text: string) => {
    const wall = Date.parse(`${text.slice(0, MINUTES_LENGTH)}:00Z`);
    set(name, Number.isFinite(wall) ? isoOf(fromWall(wall, zone)) : null);
  };
  return (
    <div className="row tiny dim">
      {label}
      <TextInput
        type="datetime-local"
        size="xs"
        aria-label={label}
        value={shown}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </div>
  );
}
