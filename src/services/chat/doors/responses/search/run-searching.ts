// Runs a response whose model can search: rounds with the model, and searches between them.

import type { Settlement } from "../../../../../../actors/account.ts";
import { clientLeft, type Settled } from "../../../../../calls/settling.ts";
import type { ApiError } from "../../../../../core/errors.ts";
import { ZERO } from "../../../../../core/money/money.ts";
import { isObject } from "../../../../../core/text/json.ts";
import { isAbsent } from "../../../../../http/body/checks.ts";
import { type CountedReply, completeChat, openChatStream } from "../../../chat.ts";
import type { ChatStream } from "../../../chat-stream.ts";
import { defaultLimit, type OutputLimit } from "../../../default-limit.ts";
import { LENGTH } from "../../../protocols/openai/finish-reason.ts";
import type { ChatContext } from "../../completions/answer-chat.ts";
import {
  eventsOfChoice,
  itemSuffix,
  passedResponse,
  type ResponseMeta,
  responseEnd,
  responseHead,
  responseSvc,
  responseUsageJson,
  sealedItems,
} from "../response-json.ts";
import { type ResponseEvent, ResponseOutput } from "../response-output.ts";
import { type ResponsesCall, responseMeta, servedBy } from "../responses-call.ts";
import { RoundReply } from "./round-reply.ts";
import { SearchItems } from "./search-items.ts";
import type { SearchRounds } from "./search-rounds.ts";
import { SearchStream } from "./search-stream.ts";
import type { Searched } from "./search-words.ts";

/** A whole response. */
export interface SettledResponse extends Settled<string> {
  /** True if the reply reports a failure after the first round. */
  readonly isFailure?: boolean;
}

/** Opens the stream of the first round. */
export async function openSearching(
  context: ChatContext,
  response: ResponsesCall,
  rounds: SearchRounds,
): Promise<{ readonly stream: SearchStream; readonly limit: OutputLimit | null }> {
  const { calls } = context.deps;
  const open = () =>
    rounds.afterOthers(async () => {
      const limit = await limitRound(context, response, rounds);
      const { call, chat } = rounds.current;
      return { stream: await openChatStream(calls, call, chat), limit };
    });
  const { stream: first, limit } = await open();
  const openNext = async (): Promise<ChatStream> => (await open()).stream;
  const parts = { rounds, clock: calls.clock, first, open: openNext };
  return { stream: new SearchStream(parts), limit };
}

/** Runs all rounds. A failure before anything is charged is the refusal of the call. */
export async function completeSearching(
  context: ChatContext,
  response: ResponsesCall,
  rounds: SearchRounds,
): Promise<SettledResponse> {
  const writer = new ResponseWriter(context, response, rounds);
  try {
    await runRounds(context, writer, { response, rounds });
  } catch (error) {
    await rounds.end();
    if (rounds.hasLeft) throw clientLeft();
    const { charged } = rounds.total.settlement;
    if (charged === ZERO) throw error;
    // The calls before are charged, so the caller gets their output.
    return { reply: writer.failed(rounds.reasonOf(error)), charged, isFailure: true };
  }
  await rounds.end();
  return { reply: writer.whole(), charged: rounds.total.settlement.charged };
}

interface Running {
  readonly response: ResponsesCall;
  readonly rounds: SearchRounds;
}

async function runRounds(
  context: ChatContext,
  writer: ResponseWriter,
  { response, rounds }: Running,
): Promise<void> {
  for (;;) {
    const { limit, ...round } = await rounds.afterOthers(async () => {
      const limit = await limitRound(context, response, rounds);
      return { limit, ...(await completeRound(context, rounds)) };
    });
    rounds.ended({ usage: round.counted.usage, settlement: round.settlement });
    const reply = new RoundReply();
    reply.takeWhole(round.counted.reply);
    writer.round(round.counted, limit);
    if (rounds.isCut(reply)) {
      writer.cut();
      return;
    }
    const isLast = !rounds.isContinued(reply);
    const results: Searched[] = [];
    for (const call of reply.searches) {
      const search = await rounds.search(call);
      results.push(search);
      writer.searched(search, isLast);
    }
    if (isLast) return;
    await rounds.next(reply, results);
  }
}

interface CompletedRound {
  readonly counted: CountedReply;
  readonly settlement: Settlement;
}

async function completeRound({ deps }: ChatContext, rounds: SearchRounds): Promise<CompletedRound> {
  const { call, chat } = rounds.current;
  const written: CompletedRound[] = [];
  await completeChat(deps.calls, call, {
    chat,
    write: (counted, settlement) => {
      written.push({ counted, settlement });
      return "";
    },
  });
  const last = written.at(-1);
  if (last === undefined) throw new Error("A round was settled without its reply");
  return last;
}

/** The limit of the current round, where the caller leaves it to us. */
async function limitRound(
  { deps }: ChatContext,
  { fields }: ResponsesCall,
  rounds: SearchRounds,
): Promise<OutputLimit | null> {
  if (!isAbsent(fields.max_output_tokens)) return null;
  const { call, chat } = rounds.current;
  const limit = await defaultLimit(deps.calls, call, chat);
  rounds.limit(limit.tokens);
  return limit;
}

/** Writes a response that is not streamed, from the replies of its rounds. */
class ResponseWriter {
  readonly #context: ChatContext;
  readonly #response: ResponsesCall;
  readonly #rounds: SearchRounds;
  #meta: ResponseMeta | null = null;
  #items: SearchItems | null = null;
  #last: CountedReply | null = null;
  #isCut = false;

  constructor(context: ChatContext, response: ResponsesCall, rounds: SearchRounds) {
    this.#context = context;
    this.#response = response;
    this.#rounds = rounds;
  }

  round(counted: CountedReply, limit: OutputLimit | null): void {
    const served = servedBy(counted);
    const search = this.#rounds;
    this.#meta ??= responseMeta(this.#context, this.#response, { served, limit, search });
    this.#items ??= new SearchItems(itemSuffix(this.#meta), search.plan);
    this.#last = counted;
    this.#items.take(eventsOf(this.#meta, counted, this.#items.next));
  }

  searched(search: Searched, isLast: boolean): void {
    this.#items?.searched(search, isLast);
  }

  /** The output limit ends the response before its searches. */
  cut(): void {
    this.#isCut = true;
  }

  whole(): string {
    const { meta, items, last } = this.#parts;
    items.end();
    const { body, choices } = last.reply;
    const end = responseEnd(meta, this.#isCut ? LENGTH : (choices[0]?.finish_reason ?? null));
    const own = body === undefined ? responseHead(meta) : passedResponse(meta, body);
    const head = body === undefined || this.#isCut ? { ...own, ...end } : own;
    return this.#json(meta, items, head);
  }

  failed({ code, message }: ApiError): string {
    const { meta, items } = this.#parts;
    items.end();
    const failure = { status: "failed", error: { code, message } };
    return this.#json(meta, items, { ...responseHead(meta), ...failure });
  }

  #json(meta: ResponseMeta, items: SearchItems, head: object): string {
    const { usage, settlement } = this.#rounds.total;
    const output = sealedItems(meta, items.items);
    const svc = responseSvc(meta, settlement);
    return JSON.stringify({ ...head, output, usage: responseUsageJson(usage), svc });
  }

  get #parts() {
    const [meta, items, last] = [this.#meta, this.#items, this.#last];
    if (meta === null || items === null || last === null) {
      throw new Error("A response is written before its first round");
    }
    return { meta, items, last };
  }
}

/** The events of a round's reply, whose first item has this place in the response. */
function eventsOf(
  meta: ResponseMeta,
  { reply: { body, choices } }: CountedReply,
  first: number,
): readonly ResponseEvent[] {
  if (body !== undefined) {
    const output: readonly unknown[] = Array.isArray(body.output) ? body.output : [];
    return output.filter(isObject).flatMap((item, index) => {
      const place = { output_index: first + index, item };
      return [
        { type: "response.output_item.added", ...place },
        { type: "response.output_item.done", ...place },
      ];
    });
  }
  const [choice] = choices;
  const end = responseEnd(meta, choice?.finish_reason ?? null);
  return eventsOfChoice(
    new ResponseOutput(itemSuffix(meta), meta.tools, first),
    choice,
    end.status,
  );
}
