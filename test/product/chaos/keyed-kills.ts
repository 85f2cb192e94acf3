// Kills API processes at named points of calls with an Idempotency-Key, and repeats each call at
// another process: each key must be charged once.

import { join } from "node:path";
import { SCOPES } from "../../../src/core/access/services.ts";
import { ERRORS, type ErrorCode } from "../../../src/core/errors.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { mailCost } from "../../../src/core/mail.ts";
import { DOORS } from "../../support/api/doors.ts";
import { MCP_VERSIONS, type McpVersion, toolCall } from "../../support/api/mcp-messages.ts";
import { startFakeSearch } from "../../support/fakes/fake-search.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { CRASH_POINTS, type CrashPoint } from "../../support/product/crash-points.ts";
import { type Api, type Product, startProduct } from "../../support/product/product.ts";
import {
  must,
  proveBooks,
  sweepDead,
  untilCallsEnd,
} from "../../support/product/product-checks.ts";
import { MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const PRELOAD = join(import.meta.dir, "../../support/product/crash-preload.ts");

/** Calls with one key at the same time, over two processes. */
const RACERS = 100;

const VECTORS = [
  { id: "vectors", serves: "embedding", input: "5000", output: "0" },
  { id: "ranks", serves: "rerank", input: "5000", output: "0" },
] as const;
const COMPACTOR = { id: "compactor", mood: "ok", form: "responses" } as const;

interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
}

/** A request, made for each idempotency key. */
interface Question {
  readonly request: (key: string) => Request;
  readonly points: readonly Point[];
}

/** The tool that mails: a worker settles its calls, while the API process waits. */
type Point = CrashPoint | "amid-delivery";

const keyed = (path: string, body: unknown): Question => ({
  request: (key) => ({ path, headers: { "idempotency-key": key }, body }),
  points: CRASH_POINTS,
});

const tool = (version: McpVersion, name: string, args: object): Question => {
  const { headers, body } = toolCall(version, name, { ...args });
  return {
    request: (key) => ({ path: "/mcp", headers: { ...headers, "idempotency-key": key }, body }),
    points: CRASH_POINTS,
  };
};

const mailed = (key: string): Request => {
  const mail = { to: "ada@x.test", subject: "Chaos", text: "A line." };
  return { path: "/mcp", ...toolCall(NEWEST, "send_mail", { ...mail, idempotency_key: key }) };
};

const [NEWEST, NEWER, OLD] = MCP_VERSIONS;
const { chat } = DOORS;
const HELLO = { prompt: "Hello", maxTokens: 50 };
const FARES = { query: "fares", max_results: 2 };
/** A request of each kind of reply, and of each tool that costs money. */
const ASKED = {
  whole: keyed(chat.path, chat.body({ ...HELLO, model: "ok", stream: false })),
  streamed: keyed(chat.path, chat.body({ ...HELLO, model: "stream", stream: true })),
  compaction: keyed("/v1/responses/compact", { model: COMPACTOR.id, input: "Hello" }),
  embeddings: keyed("/v1/embeddings", { model: "vectors", input: ["Hello", "there"] }),
  ranks: keyed("/v1/rerank", { model: "ranks", query: "Hello", documents: ["Hello", "there"] }),
  search: tool(NEWEST, "search", FARES),
  batch: tool(NEWER, "search_batch", { searches: [FARES, FARES] }),
  map: tool(OLD, "maps_geocode", { query: "Berlin" }),
  mail: { request: mailed, points: ["after-admit", "amid-delivery"] },
} as const satisfies Record<string, Question>;
type Asked = keyof typeof ASKED;

interface KeyedCall {
  readonly account: TestAccount;
  readonly key: string;
  readonly asked: Asked;
}

/** The status, error code and message of an answer; null for a call without an answer. */
type Answer = {
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
} | null;

/** The request whose receipt a refusal of a repeat names. */
const RECEIPT = /\/v1\/receipts\/(req_[A-Za-z0-9]+)/;

/** Each round kills a process at each point of a call of each kind. */
export async function killKeyedCalls({ times, say }: ChaosOptions): Promise<void> {
  await using smtp = await ScriptedSmtp.start();
  await using finder = startFakeSearch("searxng");
  await using product = await startProduct({
    apis: 2,
    models: [...MODELS, ...VECTORS, COMPACTOR],
    search: { providers: [{ kind: "searxng", base_url: finder.baseUrl }] },
    env: {
      MAIL_SMTP_URL: `${smtp.url}?tls=none`,
      MAIL_DOMAIN: "mail.chaos.test",
      // A repeat waits for longer than the claim of a dead process lasts.
      MAIL_WAIT_SECONDS: "30",
    },
    record: false,
  });
  const [steady, victim] = [product.api(0), product.api(1)];
  const terms = { paid: "100000", contract: "enterprise", scopes: SCOPES } as const;
  const account = await product.account(terms);
  const calls: KeyedCall[] = [];
  const sent: Answer[] = [];
  const ask = async (api: Api, call: KeyedCall) => {
    const answer = await send(api, call);
    sent.push(answer);
    return answer;
  };
  const kinds = Object.keys(ASKED) as Asked[];
  for (const asked of kinds) {
    const call = { account, key: `raced ${asked}`, asked };
    const race = Array.from({ length: RACERS }, (_, n) => ask(n % 2 === 0 ? steady : victim, call));
    for (const answer of await Promise.all(race)) {
      must(answer?.status === 200 || answer?.status === 409, () => {
        return `${call.key}: ${answer?.status} ${answer?.code}`;
      });
    }
    calls.push(call);
  }
  const raced = sent.length;
  /** Kills the victim at the point of this call. */
  const killAt = async (point: Point, call: KeyedCall) => {
    if (victim.isRunning) await victim.kill9();
    if (point === "amid-delivery") {
      smtp.script = { data: () => victim.kill9().then(() => null) };
      await victim.start();
    } else await victim.start({ preload: PRELOAD, env: { CRASH_AT: `${point}:1` } });
    await ask(victim, call);
    await victim.exited;
    smtp.script = {};
  };
  for (let round = 0; round < times; round += 1) {
    for (const asked of kinds) {
      for (const point of ASKED[asked].points) {
        const call = { account, key: `${point} ${asked} ${round}`, asked };
        await killAt(point, call);
        // The caller repeats its call at once: the hold of the dead process may still be charged.
        const repeat = await ask(steady, call);
        must(repeat !== null && repeat.status !== 500, () => `${call.key}: ${repeat?.status}`);
        calls.push(call);
      }
    }
  }
  const early = sent
    .slice(raced)
    .filter((answer) => answer?.code === "idempotency_in_progress").length;
  await untilCallsEnd(product);
  await sweepDead(product);
  for (const call of calls) {
    const parallel = Array.from({ length: 3 }, () => ask(steady, call));
    for (const answer of await Promise.all(parallel)) {
      must(answer?.status === 200 || answer?.status === 409, () => {
        return `${call.key}: ${answer?.status} ${answer?.code}`;
      });
    }
  }
  await untilCallsEnd(product);
  const named: string[] = [];
  for (const call of calls) {
    const repeat = await ask(steady, call);
    if (repeat?.status === 200) continue;
    const receipt = RECEIPT.exec(repeat?.message ?? "")?.[1];
    must(receipt !== undefined, () => `${call.key}: ${repeat?.code} ${repeat?.message}`);
    if (receipt !== undefined) named.push(receipt);
  }
  const told = sent.map((): Told => {
    return { requestId: null, account: account.id, status: null, cost: null, costMax: 10n ** 15n };
  });
  const { charges } = await proveBooks(product, told);
  for (const request of named) {
    must(charges.get(toUuid(request))?.times === 1, () => `The receipt ${request} has no charge`);
  }
  must(named.length > 0, () => "No repeat was told of a receipt");
  const { sql } = product.operator.database;
  const rows = await sql<{ marker: string; charges: number }[]>`
    SELECT marker, count(*)::int AS charges FROM request_log
    WHERE marker IS NOT NULL AND cost > 0 GROUP BY marker`;
  for (const { marker, charges } of rows) {
    must(charges === 1, () => `${charges} calls of the key ${marker} were charged`);
  }
  const mails = calls.filter(({ asked }) => asked === "mail").length;
  const marked = calls.length - mails;
  must(rows.length === marked, () => `${rows.length} of ${marked} keys were charged`);
  await proveMails(product, mails);
  must(smtp.accepted.length === mails, () => `${smtp.accepted.length} of ${mails} mails came`);
  must(early > 0, () => "No repeat came before the sweep");
  say(
    `${calls.length} keys, ${sent.length} requests on two processes, one killed: each key was ` +
      `charged once; ${early} repeats came before the sweep, and ${named.length} were told the ` +
      "receipt of a charge whose answer is gone",
  );
}

/** Proves that there are this many messages, each sent and charged once. */
async function proveMails({ operator }: Product, count: number): Promise<void> {
  const rows = await operator.database.sql<{ status: string; charged: string | null }[]>`
    SELECT status, (SELECT (-sum(paid_delta + free_delta))::text FROM ledger_entries l
      WHERE l.request = m.request) AS charged FROM mail_messages m`;
  must(rows.length === count, () => `${rows.length} messages of ${count} keys`);
  for (const { status, charged } of rows) {
    const isRight = status === "sent" && charged === mailCost(1).toString();
    must(isRight, () => `A message is ${status}, and was charged ${charged}`);
  }
}

/** An answer of the API, or the result of a tool's call, whose refusal has status 200. */
interface Refusal {
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  readonly result?: { readonly structuredContent?: Refusal };
}

async function send({ url }: Api, { account, key, asked }: KeyedCall): Promise<Answer> {
  const { path, headers = {}, body } = ASKED[asked].request(key);
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${account.key}` },
      body: JSON.stringify(body),
      keepalive: false,
    });
    const text = await response.text();
    const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream");
    const { error, result } = isEvents === true ? {} : (JSON.parse(text) as Refusal);
    const refusal = error ?? result?.structuredContent?.error;
    if (refusal === undefined) return { status: response.status, code: null, message: "" };
    const { code, message } = refusal;
    return { status: ERRORS[code].status, code, message };
  } catch {
    return null;
  }
}
