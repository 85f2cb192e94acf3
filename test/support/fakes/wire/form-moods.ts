// The moods of the fake upstream on the paths of Responses and Messages, beyond plain text: in each
// form the same reply goes right, or wrong in the same way.

import type { WireAnswer, WireForm } from "./wire-answer.ts";

/** The parts of an answer to a client that a mood writes. */
interface FormAnswer {
  readonly isStream: boolean;
  /** A whole answer. */
  send(status: number, text: string): void;
  /** A part of a stream. */
  part(text: string | Uint8Array): void;
  end(): void;
  /** Closes the connection without an end of the answer. */
  cut(): void;
}

type FormMood = (form: WireForm, answer: FormAnswer) => void | Promise<void>;
type Events = readonly (string | Uint8Array)[];

const USAGE = { uncached: 12, cacheRead: 0, cacheWrite: 0, output: 8, reasoning: 0 };
const TEXT = ["Fares", " are", " paid", "."];
const SAID: WireAnswer = { text: TEXT, end: "stop", usage: USAGE };
const CALLS = ["a", "b"].map((id) => ({
  id: `call_${id}`,
  name: "get_fare",
  input: { from: "A", to: "B" },
}));
const THOUGHT = { text: "It is a ride.", seal: "c2VhbGVk" };
const THOUGHTFUL = { ...USAGE, reasoning: 5 };
/** Longer than a client takes to read what was sent: a reset throws away unread bytes. */
const READ_MS = 100;

function says(said: Partial<WireAnswer>): FormMood {
  return (form, answer) => write(form, answer, { ...SAID, ...said });
}

/** A reply whose numbers of tokens are replaced by any text, even invalid JSON. */
function withTokens(raw: string): FormMood {
  const replaced = (piece: string | Uint8Array) =>
    String(piece).replaceAll(/"(input|output)_tokens":\d+/g, `"$1_tokens":${raw}`);
  return (form, answer) => {
    if (!answer.isStream) return answer.send(200, form.whole(SAID).body.map(replaced).join(""));
    writeEvents(answer, form.stream(SAID).body.map(replaced));
  };
}

/** A stream whose events are changed; a whole reply is right. */
function withEvents(change: (events: Events, form: WireForm) => Events): FormMood {
  return (form, answer) => {
    if (!answer.isStream) return write(form, answer, SAID);
    writeEvents(answer, change(form.stream(SAID).body, form));
  };
}

function write(form: WireForm, answer: FormAnswer, said: WireAnswer): void {
  if (answer.isStream) writeEvents(answer, form.stream(said).body);
  else answer.send(200, form.whole(said).body.join(""));
}

function writeEvents(answer: FormAnswer, events: Events): void {
  for (const event of events) answer.part(event);
  answer.end();
}

/** The events up to the first piece of text. */
function begun(events: Events, form: WireForm): Events {
  return events.slice(0, form.textEvents(events));
}

const ODD_EVENTS = [
  'event: response.later\ndata: {"type":"response.later"}\n\n',
  'data: {"type":"response.output_text.delta","output_index":-1,"delta":7}\n\n',
  'data: {"type":"response.output_text.delta","output_index":0,"delta":7}\n\n',
  'data: {"type":"content_block_delta","index":0,"delta":null}\n\n',
  'data: {"type":"content_block_start","index":7}\n\n',
  "data: null\n\ndata: []\n\n: nothing\n\n",
];

/** By the names that moods have on the path of chat completions too, where there is one. */
export const FORM_MOODS: Readonly<Record<string, FormMood>> = {
  "tool-call": says({ calls: CALLS }),
  "call-alone": says({ text: [], calls: CALLS }),
  thoughts: says({ thought: THOUGHT, calls: CALLS, usage: THOUGHTFUL }),
  "thoughts-only": says({ thought: THOUGHT, text: [], end: "length", usage: THOUGHTFUL }),
  "cut-off": says({ end: "length" }),
  "content-filter": says({ end: "filter" }),
  "cached-usage": says({ usage: { ...USAGE, uncached: 2, cacheRead: 10 } }),
  "written-usage": says({ usage: { ...USAGE, uncached: 2, cacheWrite: 10 } }),
  "no-choices": says({ text: [] }),
  "negative-usage": withTokens("-5"),
  "huge-usage": withTokens("1e999"),
  "nan-literal": withTokens("NaN"),
  "odd-events": withEvents((events) => events.flatMap((event) => [...ODD_EVENTS, event])),
  reversed: withEvents((events) => events.toReversed()),
  repeated: withEvents((events) => events.flatMap((event) => [event, event])),
  headless: withEvents((events) => events.slice(1)),
  "end-mid-stream": withEvents(begun),
  "error-mid-stream": withEvents((events, form) => [...begun(events, form), form.failure()]),
  "error-200": (form, answer) => {
    if (answer.isStream) writeEvents(answer, [form.failure()]);
    else answer.send(200, form.refusal(500, "Overloaded").body.join(""));
  },
  "reset-mid-stream": async (form, answer) => {
    for (const event of begun(form.stream(SAID).body, form)) answer.part(event);
    await new Promise((resolve) => setTimeout(resolve, READ_MS));
    answer.cut();
  },
};
