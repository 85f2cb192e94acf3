// Starts the product for fuzzing: processes of all services before fake servers, and keys of
// accounts of every kind.

import { buildDashboard } from "../../../scripts/build-dashboard.ts";
import { changeAccount, revokeKey } from "../../../src/accounts/administration.ts";
import { newKey } from "../../../src/core/access/keys.ts";
import type { PlanName } from "../../../src/core/access/limits.ts";
import { SCOPES } from "../../../src/core/access/services.ts";
import { ACTIONS, type MapsAction } from "../../../src/services/maps/actions.ts";
import { EXAMPLES } from "../../../src/services/maps/maps-examples.ts";
import { EMBEDDED, EMBEDDED_ACTIONS } from "../../../src/services/maps/servers.ts";
import { pdfUrl, pngUrl } from "../../support/api/images.ts";
import { eventually } from "../../support/eventually.ts";
import { startFakeSearch } from "../../support/fakes/fake-search.ts";
import { CASES } from "../../support/fakes/maps-cases.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { modelFor } from "../../support/product/ways.ts";
import type { AccountTerms } from "../../support/stores/accounts.ts";
import { testDataDirectory } from "../../support/stores/services.ts";
import type { MakerOptions } from "./request-maker.ts";

/** Models of every kind of answer, by the mood of the fake upstream. */
const GOOD_MOODS = [
  "ok",
  "tokens-3",
  "tool-call",
  "details",
  "refusal",
  "cached-usage",
  "crlf-sse",
];
/** Moods in which the upstream is useless, or breaks off. */
const BAD_MOODS = [
  "500",
  "503",
  "429",
  "400-html",
  "context-length",
  "bad-json",
  "empty",
  "error-200",
  "redirect",
  "reset-before-headers",
  "reset-mid-stream",
  "error-mid-stream",
  "end-mid-stream",
  "huge-usage",
  "nan-literal",
  "negative-usage",
  "no-choices",
];
/** Moods of servers of Responses and Messages, which doors of the same form pass through. */
const GOOD_FORM_MOODS = [
  "ok",
  "tokens-30",
  "tool-call",
  "call-alone",
  "thoughts",
  "thoughts-only",
  "cut-off",
  "content-filter",
  "cached-usage",
  "written-usage",
];
const BAD_FORM_MOODS = [
  "500",
  "429",
  "400-html",
  "context-length",
  "bad-json",
  "empty",
  "error-200",
  "redirect",
  "reset-before-headers",
  "reset-mid-stream",
  "error-mid-stream",
  "end-mid-stream",
  "negative-usage",
  "huge-usage",
  "nan-literal",
  "no-choices",
  "odd-events",
  "reversed",
  "repeated",
  "headless",
];
const GOOD_FORM_MODELS = modelsOfForms(GOOD_FORM_MOODS);
const BAD_FORM_MODELS = modelsOfForms(BAD_FORM_MOODS);
/** 12 tokens of prompt and 8 of output are $0.14: it empties small balances. */
const COSTLY = { id: "costly", mood: "ok", input: "5000", output: "10000" } as const;
const MODELS = [
  ...GOOD_MOODS.map((id) => ({ id, takesMedia: id !== "tokens-3" })),
  COSTLY,
  ...BAD_MOODS.map((id) => ({ id })),
  ...GOOD_FORM_MODELS.map((model) => ({ ...model, takesMedia: model.mood !== "tokens-30" })),
  ...BAD_FORM_MODELS,
  { id: "vectors", serves: "embedding" },
  { id: "ranks", serves: "rerank" },
  { id: "moderator", serves: "moderation", input: "0", output: "0" },
  { id: "compactor", mood: "ok", form: "responses" },
] as const;
/** Models that only endpoints other than chat's can use. */
const OTHER_USES = ["vectors", "ranks", "moderator", "compactor"];
const BAD_MODELS = [...BAD_MOODS, ...BAD_FORM_MODELS.map(({ id }) => id)].map((id) =>
  JSON.stringify(id),
);

const RICH = { paid: "100000", contract: "enterprise", scopes: SCOPES } as const;
const RICH_ACCOUNTS = 3;
/** A run that each of them has; it is in the examples too. */
const RUN = "nightly-7";
const BUILD_MS_MAX = 180_000;
/** A key of a plan may be used 60 times a minute. */
const PLAN_ACCOUNTS = 40;
/** This many accounts of a plan have a call whose receipt they may ask for. */
const PLAN_CALLS = 16;

export interface FuzzedProduct extends AsyncDisposable {
  readonly product: Product;
  readonly maker: Omit<MakerOptions, "seed">;
  /** The values behind the names in requests. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A model of each mood at a server of each form but chat's. */
function modelsOfForms(moods: readonly string[]) {
  const forms = ["responses", "messages"] as const;
  return moods.flatMap((mood) =>
    forms.map((form) => ({ id: modelFor({ form }, mood), mood, form })),
  );
}

const CHAT_DOORS = /\/(?:completions|messages|responses|compact)$/;

/** True if the upstream of a chat request may fail: it names a bad model, or lets us choose. */
export function mayFail(label: string, body: Uint8Array | null): boolean {
  if (!CHAT_DOORS.test(label)) return false;
  const text = Buffer.from(body ?? []).toString();
  return label.includes("/api/") || BAD_MODELS.some((model) => text.includes(model));
}

/** Starts the product, with everything that its requests need to succeed. */
export async function startFuzzedProduct(): Promise<FuzzedProduct> {
  await using resources = new AsyncDisposableStack();
  const smtp = resources.use(await ScriptedSmtp.start());
  const [tavily, searxng] = [startFakeSearch("tavily"), startFakeSearch("searxng")];
  resources.use(tavily);
  resources.use(searxng);
  const mapsServer = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answerMaps });
  resources.defer(() => mapsServer.stop(true));
  await buildDashboard(testDataDirectory());
  const product = resources.use(
    await startProduct({
      apis: 1,
      record: false,
      models: MODELS,
      search: {
        tool: {},
        providers: [
          { kind: "searxng", base_url: searxng.baseUrl },
          { kind: "tavily", base_url: tavily.baseUrl, api_key_env: "SERVER_KEY" },
        ],
      },
      maps: mapsSection(`http://127.0.0.1:${mapsServer.port}`),
      env: {
        SERVER_KEY: "key-of-a-server",
        TRUSTED_PROXIES: "127.0.0.1",
        MAIL_SMTP_URL: `${smtp.url}?tls=none`,
        MAIL_DOMAIN: "mail.fuzz.test",
        // Without a console no dashboard is served.
        SESSION_SECRET: "the session secret of the fuzzed product",
        CONSOLE_URL: "https://console.fuzz.test",
        MCP_HOSTS: "api.example.test",
      },
    }),
  );
  const secrets = new Map<string, string>();
  const goodKeys = await openGoodKeys(product, secrets);
  const otherKeys = await openOtherKeys(product, secrets);
  await untilMapsAreBuilt(product, secrets.get("KNOWN_rich_0") ?? "");
  for (let index = 0; index < RICH_ACCOUNTS; index += 1) {
    const key = secrets.get(`KNOWN_rich_${index}`) ?? "";
    secrets.set(`KNOWN_message_${index}`, await sendMessage(product, key));
    secrets.set(`KNOWN_call_${index}`, await payCall(product, key));
  }
  for (let index = 0; index < PLAN_CALLS; index += 1) {
    const key = secrets.get(`KNOWN_plan_${index}`) ?? "";
    secrets.set(`KNOWN_plan_call_${index}`, await payCall(product, key, "/api"));
  }
  for (let index = PLAN_CALLS; index < PLAN_ACCOUNTS; index += 1) {
    await callInRun(product, secrets.get(`KNOWN_plan_${index}`) ?? "", "/api");
  }
  const known = {
    id: [
      "KNOWN_message_0",
      "KNOWN_message_1",
      "KNOWN_message_2",
      "KNOWN_call_0",
      "KNOWN_call_1",
      "KNOWN_call_2",
      ...Array.from({ length: PLAN_CALLS }, (_, index) => `KNOWN_plan_call_${index}`),
      "ok",
      RUN,
      RUN,
      "msg_0351Ki6Po6Ze8c7RSniYDy",
      "qwen/qwen3",
      "auto",
    ],
    model: [
      ...GOOD_MOODS,
      ...GOOD_MOODS,
      ...GOOD_MOODS,
      COSTLY.id,
      ...BAD_MOODS,
      ...[...GOOD_FORM_MODELS, ...GOOD_FORM_MODELS, ...BAD_FORM_MODELS].map(({ id }) => id),
      ...OTHER_USES,
      ...OTHER_USES,
      ...OTHER_USES,
    ],
    to: ["ada@example.test", ["ada@example.test", "b@c.test", "Ada@example.test"]],
    reply_to: ["b@c.test"],
    url: [pngUrl(640, 480), pngUrl(8_192, 8_192), "https://example.com/a.png", "data:image/png,"],
    file_data: [pdfUrl(), "data:application/pdf;base64,AAAA"],
  };
  const kept = resources.move();
  return {
    product,
    secrets,
    maker: { goodKeys, otherKeys, known },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** All actions: embedded if possible, and otherwise by a fake server. */
function mapsSection(base: string): object {
  const embedded: readonly MapsAction[] = EMBEDDED_ACTIONS;
  const kinds = new Map(CASES.map(({ action, kind }) => [action, kind]));
  const remote = [...kinds].filter(([action]) => !embedded.includes(action));
  return {
    providers: Object.fromEntries(
      remote.map(([action, kind]) => [
        action,
        { kind, base_url: `${base}/${action}`, api_key_env: "SERVER_KEY" },
      ]),
    ),
    actions: Object.fromEntries(
      (Object.keys(ACTIONS) as MapsAction[]).map((action) => [
        action,
        [embedded.includes(action) ? EMBEDDED : action],
      ]),
    ),
  };
}

/** Answers for the server of the action at the start of the path. */
function answerMaps(request: Request): Response {
  const action = new URL(request.url).pathname.split("/")[1] ?? "";
  const reply = CASES.findLast((one) => one.action === action)?.reply;
  if (reply instanceof Uint8Array) return new Response(Uint8Array.from(reply));
  return Response.json(reply ?? null, { status: reply === undefined ? 404 : 200 });
}

async function openGoodKeys(product: Product, secrets: Map<string, string>) {
  const gateway: string[] = [];
  const application: string[] = [];
  const keep = (names: string[], name: string, key: string) => {
    names.push(name);
    secrets.set(name, key);
  };
  for (let index = 0; index < RICH_ACCOUNTS; index += 1) {
    const { id, key } = await product.account(RICH);
    keep(gateway, `KNOWN_rich_${index}`, key);
    keep(gateway, `KNOWN_rich_${index}_b`, (await product.newKey(id, { scopes: SCOPES })).key);
  }
  for (let index = 0; index < PLAN_ACCOUNTS; index += 1) {
    const plan: PlanName = "max";
    const { id, key } = await product.account({ surface: "application", plan, paid: "1000" });
    keep(application, `KNOWN_plan_${index}`, key);
    keep(application, `KNOWN_plan_${index}_b`, (await product.newKey(id)).key);
  }
  return { gateway, application };
}

/** Keys of accounts that are poor, limited, suspended, or of another surface; and a revoked one. */
async function openOtherKeys(product: Product, secrets: Map<string, string>): Promise<string[]> {
  const names = [...secrets.keys()];
  const { administration } = product.operator;
  const open = async (name: string, terms: AccountTerms) => {
    const account = await product.account({ scopes: SCOPES, ...terms });
    secrets.set(`KNOWN_${name}`, account.key);
    return account;
  };
  const enterprise = { contract: "enterprise" } as const;
  await open("free_tier", {});
  await open("free_credit", enterprise);
  await open("poor", { ...enterprise, paid: "0.01" });
  await open("search_only", { ...RICH, scopes: ["search"] });
  await open("chat_only", { ...RICH, scopes: ["models"] });
  await open("elsewhere", { ...RICH, ip: ["203.0.113.0/24"] });
  await open("free_plan", { surface: "application", plan: "free", scopes: ["models"] });
  const suspended = await open("suspended", RICH);
  await changeAccount(administration, suspended.id, { kind: "suspend" });
  const revoked = await open("revoked", RICH);
  await revokeKey(administration, revoked.keyId);
  const limited = await open("unlimited", RICH);
  const terms = { scopes: SCOPES, monthlyLimit: "0.01" };
  secrets.set("KNOWN_limited", (await product.newKey(limited.id, terms)).key);
  secrets.set(
    "KNOWN_wrong",
    newKey("gateway", (count) => new Uint8Array(count)),
  );
  return [...secrets.keys()].filter((name) => !names.includes(name));
}

/**
 * Waits for the data of the embedded maps, which are built on first use unless an earlier run has
 * built them.
 */
async function untilMapsAreBuilt(product: Product, key: string): Promise<void> {
  await eventually(
    "what is built in answers",
    async () => {
      const answers = EMBEDDED_ACTIONS.map(async (action) => {
        const url = `${product.api(0).url}/v1/maps?action=${action}&${EXAMPLES[action].query}`;
        return (await fetch(url, { headers: { "x-api-key": key } })).status;
      });
      return (await Promise.all(answers)).every((status) => status === 200);
    },
    BUILD_MS_MAX,
  );
}

async function sendMessage(product: Product, key: string): Promise<string> {
  const reply = await fetch(`${product.api(0).url}/v1/mail/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ to: "ada@example.test", subject: "Known", text: "A line." }),
  });
  return ((await reply.json()) as { readonly id: string }).id;
}

type Base = "" | "/api";

/** Makes a call of the run, and returns the id of the call. */
async function callInRun(product: Product, key: string, base: Base): Promise<string> {
  const url = `${product.api(0).url}${base}/v1/chat/completions`;
  const headers = { authorization: `Bearer ${key}`, "x-svc-run": `${RUN}; max-usd=1000` };
  const body = JSON.stringify({ model: "ok", messages: [{ role: "user", content: "Hello" }] });
  const reply = await fetch(url, { method: "POST", headers, body });
  return reply.headers.get("x-request-id") ?? "";
}

/** Makes a call, and returns its id once its receipt can be had. */
async function payCall(product: Product, key: string, base: Base = ""): Promise<string> {
  const id = await callInRun(product, key, base);
  const url = `${product.api(0).url}${base}/v1/receipts/${id}`;
  const headers = { authorization: `Bearer ${key}` };
  await eventually(
    "the call has a receipt",
    async () => (await fetch(url, { headers })).status === 200,
  );
  return id;
}
