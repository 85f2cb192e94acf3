// `farebox quote`: asks a service, as any caller asks it, what a call would hold and cost, and
// whether the call would pass. The command needs no store, so customers can use it too.

import type { Quote } from "../../account/quote-schema.ts";
import { dollars, reportedUsd, toDecimal, ZERO } from "../../core/money/money.ts";
import { thrownMessage } from "../../core/text/error-message.ts";
import { isFullText, isObject, jsonOrNull, objectOrEmpty } from "../../core/text/json.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";
import { END_USER_HEADER } from "../../http/body/end-user.ts";
import { MAX_COST_HEADER } from "../../http/max-cost.ts";
import { RUN_HEADER } from "../../http/run-header.ts";
import type { Checked } from "../../http/schema.ts";
import { loadCallerKey } from "../../settings/config.ts";
import { ConfigError } from "../../settings/environment.ts";
import {
  type Answer,
  type CommandWithoutStores,
  type Input,
  type Surroundings,
  UsageError,
} from "../command.ts";
import { bytesOfFile } from "../foreign.ts";
import { labelled, utc } from "../print.ts";
import { positiveAmountOf } from "../values.ts";

type Reply = Checked<typeof Quote>;

/** The address at which `npm start` serves. */
const HERE = "http://127.0.0.1:8080";
const STDIN = "-";
const WAIT_MS = 60_000;
/** Characters that a header may have. */
const PRINTABLE = /^[\x20-\x7e]+$/;
const GATEWAY_PATH = "/v1/quote";
const APPLICATION_PATH = "/api/v1/quote";

/**
 * The error if the service gives no quote. `code` is the code of the service's refusal,
 * `unreachable`, or `no_quote` for any other answer.
 */
class NoQuote extends Error {
  override readonly name = "NoQuote";

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A question to the service. */
interface Question {
  readonly address: string;
  readonly path: string;
  readonly file: string;
  readonly headers: Readonly<Record<string, string>>;
}

const quote: CommandWithoutStores = {
  name: "quote",
  positionals: ["PATH", "[FILE]"],
  summary: "Show what a call would hold and cost, and whether it would pass: exit code 1 if not",
  options: {
    url: { value: "URL", help: `the address of the service (${HERE})` },
    "max-cost": { value: "USD", help: "with this cap of the call, as x-svc-max-cost-usd" },
    run: { value: "RUN", help: "in this run, as x-svc-run: 'nightly-7; max-usd=2.00'" },
    "end-user": { value: "ID", help: "for this end user, as x-svc-end-user" },
  },
  prepareAlone(input) {
    const question = questionOf(input);
    return async (around) => {
      const key = loadCallerKey(around.environment);
      if (key === null) {
        const hint = "set it, or name a file that holds the key with FAREBOX_API_KEY_FILE";
        throw new ConfigError(`FAREBOX_API_KEY is not set: ${hint}`);
      }
      return answerOf(await ask(question, { key, body: await bodyOf(question, around) }));
    };
  },
};

function questionOf(input: Input): Question {
  const { positionals, values } = input;
  const [path = "", file = STDIN] = positionals;
  if (!path.startsWith("/")) {
    throw new UsageError(`PATH must be a path such as /v1/chat/completions, but is '${path}'`);
  }
  const headers: Record<string, string> = {};
  if (values.has("max-cost")) {
    headers[MAX_COST_HEADER] = toDecimal(positiveAmountOf(input, "max-cost"));
  }
  for (const [option, header] of [
    ["run", RUN_HEADER],
    ["end-user", END_USER_HEADER],
  ] as const) {
    const value = values.get(option);
    if (value === undefined) continue;
    if (!PRINTABLE.test(value)) throw new UsageError(`--${option} must have ASCII characters`);
    headers[header] = value;
  }
  return { address: addressOf(values.get("url") ?? HERE), path, file, headers };
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
  throw new UsageError(`--url must be an address such as ${HERE}, but is '${text}'`);
}

/** The body of the quoted call. */
async function bodyOf({ file }: Question, { say }: Pick<Surroundings, "say">): Promise<object> {
  const isStdin = file === STDIN;
  const name = isStdin ? "The standard input" : `'${file}'`;
  if (isStdin && process.stdin.isTTY) say("The body, as JSON; Ctrl+D ends it:");
  const bytes = isStdin ? await Bun.stdin.bytes() : await bytesOfFile(file, name);
  const body = jsonOrNull(textOfBytes(bytes));
  if (isObject(body)) return body;
  throw new UsageError(`${name} must have the body of the call: one JSON object`);
}

/** @throws NoQuote */
async function ask(
  { address, path, headers }: Question,
  { key, body }: { readonly key: string; readonly body: object },
): Promise<Reply> {
  const url = `${address}${path.startsWith("/api/") ? APPLICATION_PATH : GATEWAY_PATH}`;
  const reply = await fetch(url, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ path, body }),
    // A redirect to another server must not get the key.
    redirect: "manual",
    signal: AbortSignal.timeout(WAIT_MS),
  }).catch((error: unknown) => {
    throw new NoQuote("unreachable", `${url} cannot be asked: ${thrownMessage(error)}`);
  });
  const json = jsonOrNull(await reply.text());
  const { object, error } = objectOrEmpty(json);
  if (reply.ok && object === "quote") return json as Reply;
  const { code, message } = objectOrEmpty(error);
  if (isFullText(code) && isFullText(message)) throw new NoQuote(code, message);
  throw new NoQuote("no_quote", `${url} answered ${reply.status}, and no quote`);
}

function answerOf(reply: Reply): Answer {
  return { json: reply, text: textOfQuote(reply), failed: !reply.would_pass };
}

function textOfQuote(reply: Reply): string {
  const { model, likely, web_search: searches, prices, refusal } = reply;
  const { prompt_tokens: prompt, completion_tokens: completion } = likely;
  const tokens = prompt === undefined ? "" : `, by ${prompt} tokens in and ${completion} out`;
  const searched = searches && `${usdText(searches.hold_usd)}, ${searches.searches_max} at most`;
  return labelled([
    ...(model === null ? [] : [["model", model] as const]),
    ["hold", usdText(reply.hold_usd)],
    ...(searched === null ? [] : [["of it for searches", searched] as const]),
    ["likely cost", `${usdText(likely.cost_usd)}${tokens}`],
    ...prices.map(({ what, price_usd, per }, index) => {
      const price = per === 1 ? `$${price_usd} each` : `$${price_usd} for ${per}`;
      return [index === 0 ? "prices" : "", `${what}: ${price}`] as const;
    }),
    ["price version", reply.price_version ?? "-"],
    ["would pass", refusal === null ? "yes" : `no: ${refusal.message} (${refusal.code})`],
    ...(refusal?.retry_after == null ? [] : [["can pass in", `${refusal.retry_after} s`] as const]),
    ["spendable", `${usdText(reply.spendable_usd)}, by ${bindingWords(reply)}`],
    ...(reply.max_tokens_affordable === null
      ? []
      : [["max_tokens that fits", `${reply.max_tokens_affordable}`] as const]),
    ["valid until", utc(new Date(reply.valid_until))],
  ]);
}

/** "the run budget, which does not renew" */
function bindingWords({ spendable_limit: limit, spendable_budget: budget }: Reply): string {
  const name = limit.replaceAll("_", " ");
  if (budget === null) return `the ${name}`;
  const { span, renews_at: end } = budget;
  const renewal = end === null ? "does not renew" : `renews at ${utc(new Date(end))}`;
  return `the ${name} (${span}), which ${renewal}`;
}

function usdText(amount: number): string {
  return dollars(reportedUsd(amount) ?? ZERO);
}

export const quoteCommands: readonly CommandWithoutStores[] = [quote];
