// The doors that answer with text, as their clients see them: the body that asks, and the meaning
// of an event of a stream.

/** A caller's question, in the words of no door. */
export interface Asked {
  readonly model: string;
  readonly prompt: string;
  readonly stream: boolean;
  readonly maxTokens?: number | undefined;
}

/** The parts of an event that decide a caller's reply and cost. */
export interface DoorEvent {
  readonly text?: string | undefined;
  readonly svc?: { readonly cost_usd: number } | undefined;
  readonly error?: { readonly code: string } | null | undefined;
  /** True for the event after which the reply is whole. */
  readonly isLast?: boolean;
}

interface Door {
  readonly path: string;
  /** The form of the servers that get requests of this door as they came; null if none do. */
  readonly form: "responses" | "messages" | null;
  body(asked: Asked): object;
  event(data: Readonly<Record<string, never>>): DoorEvent;
}

const messagesOf = ({ prompt }: Asked) => [{ role: "user", content: prompt }];

const limitOf = ({ maxTokens }: Asked, name: string) =>
  maxTokens === undefined ? {} : { [name]: maxTokens };

export const DOORS = {
  chat: {
    path: "/v1/chat/completions",
    form: null,
    body: (asked) => ({
      model: asked.model,
      stream: asked.stream,
      messages: messagesOf(asked),
      ...limitOf(asked, "max_tokens"),
    }),
    event: ({ choices, svc, error }: Chunk<{ readonly delta: { readonly content?: string } }>) => ({
      text: choices?.[0]?.delta.content,
      svc,
      error,
    }),
  },
  text: {
    path: "/v1/completions",
    form: null,
    body: (asked) => ({
      model: asked.model,
      stream: asked.stream,
      prompt: asked.prompt,
      ...limitOf(asked, "max_tokens"),
    }),
    event: ({ choices, svc, error }: Chunk<{ readonly text: string }>) => ({
      text: choices?.[0]?.text,
      svc,
      error,
    }),
  },
  responses: {
    path: "/v1/responses",
    form: "responses",
    body: (asked) => ({
      model: asked.model,
      stream: asked.stream,
      input: asked.prompt,
      ...limitOf(asked, "max_output_tokens"),
    }),
    event: ({ type, delta, response }: ResponseEvent) => ({
      text: type === "response.output_text.delta" ? delta : undefined,
      svc: response?.svc,
      error: response?.error,
      isLast: type === "response.completed" || type === "response.incomplete",
    }),
  },
  messages: {
    path: "/v1/messages",
    form: "messages",
    body: (asked) => ({
      model: asked.model,
      stream: asked.stream,
      messages: messagesOf(asked),
      max_tokens: asked.maxTokens ?? 4_096,
    }),
    event: ({ type, delta, svc, error }: MessageEvent) => ({
      text: delta?.text,
      svc,
      error,
      isLast: type === "message_stop",
    }),
  },
} satisfies Record<string, Door>;

export type DoorName = keyof typeof DOORS;

export const DOOR_NAMES = Object.keys(DOORS) as DoorName[];

/** The door at the path of an answer's address. */
export function doorAt(url: string): Door {
  const { pathname } = new URL(url);
  const door = Object.values(DOORS).find(({ path }) => path === pathname);
  if (door === undefined) throw new Error(`No door for text is at ${pathname}`);
  return door;
}

interface Chunk<Choice> extends DoorEvent {
  readonly choices?: readonly Choice[];
}

interface ResponseEvent {
  readonly type?: string;
  readonly delta?: string;
  readonly response?: Pick<DoorEvent, "svc" | "error">;
}

interface MessageEvent extends DoorEvent {
  readonly type?: string;
  readonly delta?: { readonly text?: string };
}

/** The data of the events in a text of whole frames; a comment has none. */
export function dataOf(frames: string): string[] {
  return [...frames.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data);
}
