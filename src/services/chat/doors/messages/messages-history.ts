// The calls that another provider ran are history here: each is shown as the call of a tool and its
// result, to every server, since no server here has run them, and none can go on with them (D-802).

import { isObject } from "../../../../core/text/json.ts";
import { invalid, isAbsent } from "../../../../http/body/checks.ts";
import { unfinishedCall } from "../unfinished-call.ts";
import {
  type AssistantBlock,
  type CountFields,
  type MessageFields,
  PROVIDER_CALLS,
  PROVIDER_RESULTS,
} from "./messages-body.ts";
import { blocksIn } from "./messages-fields.ts";

type ProviderCall = Extract<AssistantBlock, { readonly type: (typeof PROVIDER_CALLS)[number] }>;
type ProviderResult = Extract<AssistantBlock, { readonly tool_use_id: string }>;

/** A body whose history has only calls of tools of the caller. */
export interface ShownCalls<Fields> {
  readonly fields: Fields;
  /** The place of each message in the body of the caller, for refusals. */
  readonly placeOf: (index: number) => string;
  /** The kinds of blocks of which a model sees only a part, or nothing, for `svc.ignored`. */
  readonly hidden: readonly string[];
}

const KINDS: ReadonlySet<string> = new Set([
  ...PROVIDER_CALLS,
  ...PROVIDER_RESULTS,
  "container_upload",
]);

/**
 * The body with the calls of providers as calls of tools. Throws an `invalid_parameter` for a call
 * without a result, and for a result without a call.
 */
export function withShownCalls<Fields extends CountFields>(fields: Fields): ShownCalls<Fields> {
  const { messages } = fields;
  if (!messages.some(hasProviderBlock)) return { fields, placeOf: placeAt, hidden: [] };
  const history = new History();
  const placed = messages.flatMap((message, index) => {
    const place = placeAt(index);
    const turns = hasProviderBlock(message) ? history.turn(message, `${place}.content`) : [message];
    return turns.map((turn) => ({ turn, place }));
  });
  return {
    fields: { ...fields, messages: placed.map(({ turn }) => turn) },
    placeOf: (index) => placed[index]?.place ?? placeAt(index),
    hidden: history.end(),
  };
}

function placeAt(index: number): string {
  return `messages[${index}]`;
}

function hasProviderBlock(message: MessageFields): boolean {
  return blocksIn(message).some(({ type }) => KINDS.has(type));
}

/** The calls and results of a conversation; a result can come in a later message than its call. */
class History {
  readonly #open = new Map<string, { readonly call: ProviderCall; readonly place: string }>();
  readonly #hidden = new Set<string>();

  /** The messages that replace a message of the model: each result ends a turn of the model. */
  turn(message: MessageFields, param: string): readonly MessageFields[] {
    const messages: MessageFields[] = [];
    let said: AssistantBlock[] = [];
    for (const [index, block] of blocksIn(message).entries()) {
      const place = `${param}[${index}]`;
      if (block.type === "container_upload") this.#hidden.add(block.type);
      else if (isCall(block)) this.#open.set(block.id, { call: block, place });
      else if ("tool_use_id" in block) {
        messages.push({ role: "assistant", content: [...said, this.#called(block, place)] });
        messages.push({ role: "user", content: [this.#result(block)] });
        said = [];
      } else said.push(block);
    }
    if (said.length > 0) messages.push({ role: "assistant", content: said });
    return messages;
  }

  /** The names of what is hidden. Throws for a call without a result. */
  end(): readonly string[] {
    const [open] = this.#open.values();
    if (open !== undefined) throw unfinishedCall(open.call.type, open.place);
    return [...this.#hidden].map((kind) => `messages[].content: ${kind}`);
  }

  #called({ tool_use_id: id }: ProviderResult, place: string): AssistantBlock {
    const open = this.#open.get(id);
    if (open === undefined) throw invalid(`${place}.tool_use_id`, "must be the id of a call");
    // A call has one result: with several, a short request could show a long call many times.
    this.#open.delete(id);
    const { name, input, cache_control } = open.call;
    return { type: "tool_use", id, name, input, ...marked(cache_control) };
  }

  #result({ type, tool_use_id, content, is_error, cache_control }: ProviderResult) {
    return {
      type: "tool_result",
      tool_use_id,
      content: this.#words(content, type),
      ...(is_error === true && { is_error }),
      ...marked(cache_control),
    } as const;
  }

  /** A result as text, without the parts that only its provider can read, and without files. */
  #words(content: ProviderResult["content"], kind: string): string {
    if (isAbsent(content) || typeof content === "string") return content ?? "";
    return JSON.stringify(content, (key, value: unknown) => {
      const isFile = isObject(value) && value.type === "base64";
      if (!isFile && !key.startsWith("encrypted_")) return value;
      this.#hidden.add(kind);
      return null;
    });
  }
}

function marked(cache_control: ProviderCall["cache_control"]) {
  return isAbsent(cache_control) ? {} : { cache_control };
}

function isCall(block: AssistantBlock): block is ProviderCall {
  return PROVIDER_CALLS.some((kind) => kind === block.type);
}
