// Measures the gateway's processor time for a call and a chunk by each door, against a chat
// completion in the same rounds. A new door is a row of `DOORS`, and the form of its bodies in
// `load/requests.ts`.

import { PASSED } from "./farebox.ts";
import { chunkStreams, plainCalls } from "./load/plans.ts";
import type { RequestForm } from "./load/requests.ts";
import type { RunLength } from "./options.ts";
import { type Contestant, median, type Results, type Round, ratio, runRounds } from "./rounds.ts";

interface Door {
  readonly name: string;
  readonly path: string;
  readonly form: RequestForm;
  /** Stands before the names of the models that are served in this way. */
  readonly prefix: string;
  /** The highest cost of a call and of a chunk, as multiples of a chat completion's. */
  readonly atMost: { readonly call: number; readonly chunk: number };
}

const PASSED_THROUGH = { call: 1.5, chunk: 1.5 } as const;
const BY_MIDDLE_FORM = { call: 3, chunk: 6 } as const;
const MESSAGES = { path: "/v1/messages", form: "messages" } as const;
const RESPONSES = { path: "/v1/responses", form: "responses" } as const;

const DOORS: readonly Door[] = [
  {
    name: "Messages, passed through",
    ...MESSAGES,
    prefix: PASSED.messages,
    atMost: PASSED_THROUGH,
  },
  { name: "Messages, by the middle form", ...MESSAGES, prefix: "", atMost: BY_MIDDLE_FORM },
  {
    name: "Responses, passed through",
    ...RESPONSES,
    prefix: PASSED.responses,
    atMost: PASSED_THROUGH,
  },
  { name: "Responses, by the middle form", ...RESPONSES, prefix: "", atMost: BY_MIDDLE_FORM },
];

/** The rounds of every door, and of chat completions under the name of their target. */
export interface DoorFigures {
  readonly chat: string;
  readonly calls: Results;
  readonly streams: Results;
}

export interface DoorOptions {
  readonly chat: Contestant;
  readonly length: RunLength;
  readonly progress: (line: string) => void;
}

export async function measureDoors({ chat, length, progress }: DoorOptions): Promise<DoorFigures> {
  const calls = plainCalls(length, progress);
  const streams = chunkStreams(length, progress);
  return {
    chat: chat.target.name,
    calls: await runRounds(contestantsOf(chat, calls.load.model), calls),
    streams: await runRounds(contestantsOf(chat, streams.load.model), streams),
  };
}

function contestantsOf(chat: Contestant, model: string): Contestant[] {
  const doors = DOORS.map(({ name, path, form, prefix }) => {
    const url = new URL(path, chat.target.url).href;
    return { ...chat, target: { ...chat.target, name, url }, form, model: prefix + model };
  });
  return [chat, ...doors];
}

interface DoorRow {
  readonly what: string;
  readonly us: number;
  /** The ratio to a chat completion; the median over the rounds. */
  readonly ratio: number;
  readonly atMost: number;
}

/** A row for each door's call and chunk. */
export function doorRows({ chat, calls, streams }: DoorFigures): DoorRow[] {
  const row = (
    results: Results,
    { name, what, atMost }: { name: string; what: string; atMost: number },
    pick: (round: Round) => number,
  ): DoorRow => ({
    what: `${what}: ${name}`,
    us: median(results, name, pick),
    ratio: ratio(results, { over: name, under: chat }, pick),
    atMost,
  });
  return [
    ...DOORS.map(({ name, atMost }) =>
      row(calls, { name, what: "call", atMost: atMost.call }, (round) => round.cpuPerCallUs),
    ),
    ...DOORS.map(({ name, atMost }) =>
      row(streams, { name, what: "chunk", atMost: atMost.chunk }, (round) => round.cpuPerEventUs),
    ),
  ];
}

/** True if every ratio was measured and is within its aim. */
export function areDoorsMet(figures: DoorFigures): boolean {
  return doorRows(figures).every(({ ratio, atMost }) => ratio <= atMost);
}

/** The rows as text. */
export function doorsTable(figures: DoorFigures): string {
  const { chat, calls, streams } = figures;
  const lines = doorRows(figures).map(({ what, us, ratio, atMost }) => {
    const met = ratio <= atMost ? "met   " : "MISSED";
    return `${met} ${what}: ${us.toFixed(2)} us, ${ratio.toFixed(2)} x (at most ${atMost})`;
  });
  const call = median(calls, chat, ({ cpuPerCallUs }) => cpuPerCallUs).toFixed(1);
  const chunk = median(streams, chat, ({ cpuPerEventUs }) => cpuPerEventUs).toFixed(2);
  const head = `gateway CPU of a chat completion: ${call} us a call, ${chunk} us a chunk`;
  return [head, ...lines].join("\n");
}
