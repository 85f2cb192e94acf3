// The reply of a text completion, whole or as frames of a stream.

import type { Settlement } from "../../../../../actors/account.ts";
import { sameId } from "../../../../core/ids.ts";
import { isFullText } from "../../../../core/text/json.ts";
import { ERROR_FORMS } from "../../../../http/respond.ts";
import { DONE_FRAME, dataFrame, KEEP_ALIVE_FRAME } from "../../../../http/sse.ts";
import type { CountedReply } from "../../chat.ts";
import type { ChatStream } from "../../chat-stream.ts";
import type { ChatDelta } from "../../protocols/provider.ts";
import type { StreamEvent } from "../../stream-event.ts";
import { StreamFrames } from "../stream-frames.ts";
import { type CompletionMeta, chatSvc, usageJson } from "./chat-json.ts";

/** A reply that is not streamed. */
export function textCompletionJson(
  meta: CompletionMeta,
  { reply, usage }: CountedReply,
  settlement: Settlement,
): string {
  const [choice] = reply.choices;
  const { content, refusal } = choice?.message ?? {};
  return JSON.stringify({
    ...headOf(meta),
    choices: [choiceOf(content ?? refusal ?? "", choice?.finish_reason ?? "stop")],
    usage: usageJson(usage),
    svc: chatSvc(meta, settlement),
  });
}

/**
 * Turns the events of a stream into frames. Usage and cost are in the frame with the
 * finish_reason, or in one of their own, as in a stream of chat completions.
 */
export class TextCompletionFrames extends StreamFrames {
  readonly #meta: CompletionMeta;
  #finish: string | null = null;

  constructor(stream: ChatStream, meta: CompletionMeta) {
    super(stream);
    this.#meta = meta;
  }

  protected override framesOf(event: StreamEvent): string {
    switch (event.kind) {
      case "deltas":
        return event.deltas.map((delta) => this.#delta(delta)).join("");
      case "thinking":
        return KEEP_ALIVE_FRAME;
      case "error": {
        const { surface, call } = this.#meta;
        return dataFrame(JSON.stringify(ERROR_FORMS[surface](event.error, call.requestId)));
      }
      case "end":
        if (event.isCut) this.#finish ??= "length";
        return this.#end(event);
    }
  }

  #delta({ delta: { content, refusal }, finish_reason: finish }: ChatDelta): string {
    if (finish !== null) this.#finish = finish;
    const text = content || refusal;
    if (!isFullText(text)) return "";
    const usage = this.#meta.hasUsageFrame ? { usage: null } : {};
    return this.#frame({ choices: [choiceOf(text, null)], ...usage });
  }

  #end({ usage: tokens, settlement }: Extract<StreamEvent, { readonly kind: "end" }>): string {
    const finish = choiceOf("", this.#finish ?? "stop");
    const bill = { usage: usageJson(tokens), svc: chatSvc(this.#meta, settlement) };
    const frames = this.#meta.hasUsageFrame
      ? this.#frame({ choices: [finish], usage: null }) + this.#frame({ choices: [], ...bill })
      : this.#frame({ choices: [finish], ...bill });
    return frames + DONE_FRAME;
  }

  #frame(parts: object): string {
    return dataFrame(JSON.stringify({ ...headOf(this.#meta), ...parts }));
  }
}

function headOf({ call, created, served }: CompletionMeta): object {
  // OpenAI's ids of this form have no "chat" before them.
  const id = sameId(call.requestId, "completion").replace("chat", "");
  return { id, object: "text_completion", created, model: served.model.id };
}

function choiceOf(text: string, finish_reason: string | null): object {
  return { text, index: 0, logprobs: null, finish_reason };
}
