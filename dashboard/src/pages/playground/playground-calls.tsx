// Search, maps and mail in the playground.

import { Button, Select, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { type ApiAnswer, type ApiCall, type Capped, callApi } from "../../api/playground.ts";
import { outdateAccount } from "../../api/queries.ts";
import { Problem, useChange } from "../../parts/ask.tsx";
import { Cost, Hold } from "../../parts/call-price.tsx";
import { Code } from "../../parts/code.tsx";
import { Form } from "../../parts/form.tsx";
import { useMe } from "../../session.tsx";
import { t } from "../../texts.ts";

const TYPING_MS = 400;

interface Field {
  readonly name: string;
  readonly example: string;
}

const PLACE: readonly Field[] = [
  { name: "lat", example: "52.52437" },
  { name: "lon", example: "13.41053" },
];

/** The actions of maps that the playground offers, each with its fields and an example. */
const MAP_ACTIONS = {
  geocode: [{ name: "query", example: "Köln" }],
  reverse: PLACE,
  site_image: [...PLACE, { name: "zoom", example: "8" }],
  poi: [...PLACE, { name: "radius", example: "2000" }],
  weather: PLACE,
} as const satisfies Readonly<Record<string, readonly Field[]>>;

type MapAction = keyof typeof MAP_ACTIONS;

interface CallFormProps<T> {
  readonly account: string;
  /** Null as long as it is not complete. */
  readonly call: ApiCall | null;
  readonly action: string;
  readonly children: ReactNode;
  readonly show: (body: T) => ReactNode;
}

/** Fields, the price before, the call, its answer and its cost. */
function CallForm<T>({ account, call, action, children, show }: CallFormProps<T>) {
  const [answer, setAnswer] = useState<ApiAnswer<T> | null>(null);
  const [settled] = useDebouncedValue(call, TYPING_MS);
  const change = useChange(async () => {
    if (call === null) return;
    setAnswer(null);
    try {
      setAnswer(await callApi<T>(account, call));
    } finally {
      await outdateAccount(account);
    }
  });
  return (
    <Form submit={change.start}>
      {children}
      <Hold account={account} call={settled} />
      <Problem error={change.error} />
      <div className="row" data-end="">
        <Button type="submit" loading={change.busy} disabled={call === null}>
          {action}
        </Button>
      </div>
      {answer !== null && (
        <div className="stack">
          <Cost account={account} usd={answer.costUsd} requestId={answer.requestId} />
          {show(answer.body)}
        </div>
      )}
    </Form>
  );
}

interface PlaygroundProps {
  readonly account: string;
  readonly capped: Capped;
}

interface Found {
  readonly results: readonly {
    readonly title: string;
    readonly url: string;
    readonly snippet?: string | null;
  }[];
}

export function PlaygroundSearch({ account, capped }: PlaygroundProps) {
  const [query, setQuery] = useState("");
  const wanted = query.trim();
  const call = wanted === "" ? null : { path: "/v1/search", body: { query: wanted } };
  return (
    <CallForm<Found>
      account={account}
      call={capped(call)}
      action={t.playground.search}
      show={({ results }) =>
        results.length === 0 ? (
          <p className="dim">{t.playground.nothingFound}</p>
        ) : (
          <ul className="plain-list">
            {results.map(({ title, url, snippet }) => (
              <li key={url}>
                <a href={safeUrl(url)} target="_blank" rel="noreferrer">
                  {title}
                </a>
                <div className="tiny dim">{url}</div>
                <div className="small">{snippet}</div>
              </li>
            ))}
          </ul>
        )
      }
    >
      <TextInput
        label={t.playground.query}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
    </CallForm>
  );
}

/** A result may name any address; only those of the web are followed. */
function safeUrl(url: string): string {
  return /^https?:\/\//i.test(url) ? url : "#";
}

interface MapAnswer {
  readonly data?: { readonly image?: { readonly url?: string } };
}

export function PlaygroundMaps({ account, capped }: PlaygroundProps) {
  const [action, setAction] = useState<MapAction>("geocode");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const fields = MAP_ACTIONS[action];
  const given = fields.map(({ name, example }) => [name, values[name] ?? example] as const);
  const isComplete = given.every(([, value]) => value.trim() !== "");
  const body = { action, ...Object.fromEntries(given) };
  return (
    <CallForm<MapAnswer>
      account={account}
      call={capped(isComplete ? { path: "/v1/maps", body } : null)}
      action={t.playground.ask}
      show={(answer) => <MapResult answer={answer} />}
    >
      <Select
        label={t.usage.ticket.action}
        data={Object.keys(MAP_ACTIONS)}
        value={action}
        onChange={(next) => next !== null && setAction(next as MapAction)}
      />
      <div className="choice">
        {fields.map(({ name, example }) => (
          <TextInput
            key={`${action} ${name}`}
            label={name}
            value={values[name] ?? example}
            onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        ))}
      </div>
    </CallForm>
  );
}

function MapResult({ answer }: { readonly answer: MapAnswer }) {
  const url = answer.data?.image?.url;
  const isPicture = url?.startsWith("data:image/png;base64,") === true;
  // The picture is shown; its thousands of letters in the text would only hide the rest.
  const shown = JSON.stringify(
    answer,
    (key, value) => (key === "url" && isPicture ? "…" : value),
    2,
  );
  return (
    <>
      {isPicture && <img className="picture" src={url} alt={t.playground.picture} />}
      <Code text={shown} label={t.playground.answer} />
    </>
  );
}

export function PlaygroundMail({ account, capped }: PlaygroundProps) {
  const { person } = useMe();
  const [subject, setSubject] = useState<string>(t.playground.mailSubject);
  const [text, setText] = useState<string>(t.playground.mailText);
  const isComplete = subject.trim() !== "" && text.trim() !== "";
  const body = { to: person.email, subject, text };
  return (
    <CallForm<{ readonly id: string; readonly status: string }>
      account={account}
      call={capped(isComplete ? { path: "/v1/mail/send", body } : null)}
      action={t.playground.sendMail}
      show={({ id, status }) => (
        <p>
          {t.playground.mailSent(status)} <code>{id}</code>
        </p>
      )}
    >
      <p className="small dim">{t.playground.mailTo(person.email)}</p>
      <TextInput
        label={t.playground.subject}
        maxLength={200}
        value={subject}
        onChange={(event) => setSubject(event.currentTarget.value)}
      />
      <Textarea
        label={t.playground.text}
        rows={4}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </CallForm>
  );
}
