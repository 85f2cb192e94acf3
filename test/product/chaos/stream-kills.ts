// Kills API processes in the middle of streams of every door, and measures the part of each stream
// that was sent and not charged, in money and in time.

import { toUuid } from "../../../src/core/ids.ts";
import { exactCost } from "../../../src/core/money/call-cost.ts";
import { type NanoUsd, nano, toDollars, usd } from "../../../src/core/money/money.ts";
import { bandPrices } from "../../../src/services/chat/models/catalogue.ts";
import { countTokens, templateTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { postChat, readStream } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { type Api, startProduct } from "../../support/product/product.ts";
import { must, type Proof, proveBooks } from "../../support/product/product-checks.ts";
import type { Told } from "../../support/product/product-load.ts";
import { inEachForm, modelFor, WAYS, type Way } from "../../support/product/ways.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const LOST_MAX = usd("0.01");
/** The loss of one stream on a machine so busy that counting and storing take half a second. */
const LOST_AT_WORST = usd("0.025");
const LOST_MS_MAX = 2_000;
/** Longer than any stream of a run. */
const MAX_TOKENS = 4_000;
const PROMPT = "Hello";
const PIECE_MS = 20;
const MOOD = `tokens-${MAX_TOKENS}-every-${PIECE_MS}`;

const MODELS = [
  { id: "usual", mood: MOOD, input: "3", output: "15" },
  { id: "expensive", mood: MOOD, input: "150", output: "600" },
] as const;

type Model = (typeof MODELS)[number];

/** A stream that broke off: the text that its client had, and when. */
interface CutStream {
  readonly model: Model;
  readonly requestId: string;
  readonly account: string;
  readonly text: string;
  readonly arrivals: readonly { readonly ms: number; readonly length: number }[];
  readonly killedMs: number;
}

/** The part of a stream that was sent and not charged. */
interface Loss {
  readonly model: Model;
  readonly amount: NanoUsd;
  readonly ms: number;
}

/** Kills a process again and again in the middle of streams, and measures the uncharged part. */
export async function killStreams({ times: kills, random, say }: ChaosOptions): Promise<void> {
  const models = inEachForm(MODELS);
  await using product = await startProduct({ apis: 1, models, record: false });
  const accounts = (await openAccounts(product)).slice(0, -1);
  const api = product.api(0);
  const cut: CutStream[] = [];
  const left: Told[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    if (!api.isRunning) await api.start();
    left.push(await countOnce(api, random.pick(accounts)));
    const killed = Promise.withResolvers<number>();
    const streams = MODELS.flatMap((model) =>
      WAYS.map((way) =>
        readUntilKilled(api, random.pick(accounts), { model, way }, killed.promise),
      ),
    );
    await Promise.all(streams.map(({ started }) => started));
    await Bun.sleep(random.between(300, 4_500));
    const killing = api.kill9();
    killed.resolve(performance.now());
    await killing;
    cut.push(...(await Promise.all(streams.map(({ ended }) => ended))));
  }
  await api.start();
  const proof = await proveBooks(product, [...left, ...cut.map(toldOf)]);
  const losses = cut.map((stream) => lossOf(stream, proof));
  for (const model of MODELS) checkLosses(model, losses, say);
  say(`${kills} kills with ${cut.length} streams open; audit clean`);
}

/** Leaves a stream, so that its tokens are counted: a process loads the tokenizer once. */
async function countOnce(api: Api, account: TestAccount): Promise<Told> {
  const leaving = new AbortController();
  const options = { model: "usual", stream: true, maxTokens: MAX_TOKENS, signal: leaving.signal };
  const response = await postChat(api.url, account.key, options);
  const { requestId } = await readStream(response, () => leaving.abort());
  await eventually("the stream was settled", async () => (await api.openCalls()) === 0);
  return { requestId, account: account.id, status: 200, cost: null, costMax: LOST_MAX };
}

/** Reads a stream until its process is killed. */
function readUntilKilled(
  api: Api,
  account: TestAccount,
  { model, way }: { readonly model: Model; readonly way: Way },
  killed: Promise<number>,
): { readonly started: Promise<void>; readonly ended: Promise<CutStream> } {
  const started = Promise.withResolvers<void>();
  const read = async (): Promise<CutStream> => {
    const arrivals: { ms: number; length: number }[] = [];
    let length = 0;
    const asked = { model: modelFor(way, model.id), maxTokens: MAX_TOKENS, prompt: PROMPT };
    const options = { door: way.door, ...asked, stream: true };
    const response = await postChat(api.url, account.key, options);
    const answer = await readStream(response, (text) => {
      length += text.length;
      arrivals.push({ ms: performance.now(), length });
      started.resolve();
    });
    must(!answer.isWhole, () => `${answer.requestId} ended before the kill`);
    const { requestId, text } = answer;
    return { model, requestId, account: account.id, text, arrivals, killedMs: await killed };
  };
  const ended = read();
  ended.catch(started.reject);
  return { started: started.promise, ended };
}

function costOf({ input, output }: Model, text: string, more = 0): NanoUsd {
  const request = { messages: [{ role: "user", content: PROMPT }] } as const;
  return exactCost(bandPrices({ input, output }), {
    promptTokens: countTokens(PROMPT) + templateTokens(request as never),
    cachedTokens: 0,
    completionTokens: countTokens(text) + more,
  });
}

/**
 * Bun's client drops the bytes that it has received and not yet given away when their connection
 * breaks. So the pieces that may have come since the last one seen count as received.
 */
function toldOf({ model, requestId, account, text, arrivals, killedMs }: CutStream): Told {
  const unseenMs = Math.max(0, killedMs - (arrivals.at(-1)?.ms ?? killedMs));
  const costMax = costOf(model, text, Math.ceil(unseenMs / PIECE_MS));
  return { requestId, account, status: 200, cost: null, costMax };
}

function lossOf({ model, requestId, text, arrivals, killedMs }: CutStream, proof: Proof): Loss {
  const charged = proof.charges.get(toUuid(requestId))?.amount ?? 0n;
  const paid = arrivals.findLast(({ length }) => costOf(model, text.slice(0, length)) <= charged);
  const firstUnpaid = arrivals[paid === undefined ? 0 : arrivals.indexOf(paid) + 1];
  const ms = firstUnpaid === undefined ? 0 : Math.max(0, killedMs - firstUnpaid.ms);
  return { model, amount: nano(costOf(model, text) - charged), ms };
}

function checkLosses(model: Model, all: readonly Loss[], say: ChaosOptions["say"]): void {
  const losses = all.filter((loss) => loss.model === model);
  const ms = Math.max(...losses.map((loss) => loss.ms));
  const most = losses.reduce((max, { amount }) => (amount > max ? amount : max), usd("0"));
  const sum = losses.reduce((total, { amount }) => total + amount, 0n);
  const mean = nano(sum / BigInt(losses.length));
  say(
    `  ${model.id} ($${model.output} a million tokens, 50 a second): not charged of a stream at ` +
      `most ${toDollars(most)} and ${(ms / 1_000).toFixed(2)} s, on average ${toDollars(mean)}`,
  );
  must(mean <= LOST_MAX, () => `${toDollars(mean)} of each stream was not charged`);
  must(most <= LOST_AT_WORST, () => `${toDollars(most)} of a stream was not charged`);
  must(ms <= LOST_MS_MAX, () => `${ms} ms of a stream were not charged`);
}
