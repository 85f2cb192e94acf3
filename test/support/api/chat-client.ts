// Makes raw calls of chat models to a running API, by any door for text, for tests that check the
// responses in detail.

import { type NanoUsd, nano, usd } from "../../../src/core/money/money.ts";
import { DOORS, type DoorName, dataOf, doorAt } from "./doors.ts";

export interface ChatAnswer {
  readonly status: number;
  readonly requestId: string;
  /** The code of an error. */
  readonly code: string | null;
  /** The cost in the response; null if the response ended before it. */
  readonly cost: NanoUsd | null;
}

export interface ChatOptions {
  /** By default chat completions. */
  readonly door?: DoorName;
  readonly model?: string;
  readonly stream?: boolean;
  readonly maxTokens?: number;
  readonly prompt?: string;
  readonly signal?: AbortSignal;
}

/** Posts a chat call and resolves with its headers. */
export function postChat(url: string, key: string, options: ChatOptions = {}): Promise<Response> {
  const { model = "ok", stream = false, maxTokens, prompt = "Hello", signal } = options;
  const { path, body } = DOORS[options.door ?? "chat"];
  return fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body({ model, stream, prompt, maxTokens })),
    // A new connection, because on a reused one the client may send the call twice.
    keepalive: false,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Makes a call without streaming and reads the response. */
export async function askChat(url: string, key: string, options: ChatOptions = {}) {
  return await readAnswer(await postChat(url, key, options));
}

/** Reads the response of a call without streaming. */
export async function readAnswer(response: Response): Promise<ChatAnswer> {
  const body = (await response.json()) as {
    readonly error?: { readonly code: string };
    readonly svc?: { readonly cost_usd: number };
  };
  const { status, headers } = response;
  const shown = headers.get("x-svc-cost-usd") ?? "0";
  const cost = body.svc === undefined ? nano(0n) : usd(body.svc.cost_usd.toFixed(9));
  if (usd(shown) !== cost) throw new Error(`The header says ${shown}, the body ${cost} nano-USD`);
  const requestId = headers.get("x-request-id") ?? "";
  return { status, requestId, code: body.error?.code ?? null, cost };
}

/** The content of a stream until it ended or broke off. */
export interface StreamedAnswer extends ChatAnswer {
  readonly text: string;
  /** True if the end of the reply arrived. */
  readonly isWhole: boolean;
  /** True if the connection was lost instead of closed. */
  readonly wasReset: boolean;
}

/** Reads a stream and calls `onText` with each piece of text. */
export async function readStream(
  response: Response,
  onText: (text: string) => void = () => {},
): Promise<StreamedAnswer> {
  if (response.status !== 200) {
    return { ...(await readAnswer(response)), text: "", isWhole: true, wasReset: false };
  }
  const requestId = response.headers.get("x-request-id") ?? "";
  const state = {
    text: "",
    isWhole: false,
    cost: null as NanoUsd | null,
    code: null as string | null,
  };
  const door = doorAt(response.url);
  let wasReset = false;
  try {
    for await (const frame of framesOf(response)) readFrame(door, frame, { state, onText });
  } catch {
    // The server is gone; the result has the events that arrived before.
    wasReset = true;
  }
  return { status: 200, requestId, wasReset, ...state };
}

interface StreamState {
  text: string;
  isWhole: boolean;
  cost: NanoUsd | null;
  code: string | null;
}

function readFrame(
  door: ReturnType<typeof doorAt>,
  frame: string,
  { state, onText }: { readonly state: StreamState; readonly onText: (text: string) => void },
): void {
  if (frame === "[DONE]") {
    state.isWhole = true;
    return;
  }
  const { text = "", svc, error, isLast } = door.event(JSON.parse(frame));
  if (svc !== undefined) state.cost = usd(svc.cost_usd.toFixed(9));
  if (error) state.code = error.code;
  if (isLast === true) state.isWhole = true;
  state.text += text;
  if (text !== "") onText(text);
}

/** The data of each event of a stream. */
export async function* framesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const bytes of response.body ?? []) {
    held += decoder.decode(bytes, { stream: true });
    const end = held.lastIndexOf("\n\n") + 2;
    if (end < 2) continue;
    yield* dataOf(held.slice(0, end));
    held = held.slice(end);
  }
}
