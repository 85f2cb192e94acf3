// Runs every client against both surfaces of a product that was started for it. A client is a small
// program of its own, which reads the product's address from its environment and prints one line of
// JSON for each check.

import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { revokeKey } from "../../../src/accounts/administration.ts";
import type { Surface } from "../../../src/core/access/services.ts";
import {
  add,
  charge,
  dollars,
  type NanoUsd,
  nano,
  price,
  subtract,
  toDecimal,
  ZERO,
} from "../../../src/core/money/money.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { type OrMissing, prepareGo, preparePython } from "../../support/product/toolchains.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { clientPageOf } from "./clients-page.ts";
import { type ObligingUpstream, SENTENCE, startObligingUpstream } from "./obliging-upstream.ts";
import { CHECKS, type CheckResult, type ClientRow } from "./table.ts";

/** A client that hangs is ended, and its unreported checks count as failed. */
const CLIENT_MS_MAX = 240_000;
/**
 * The words of a refusal may take this much longer than the slowest reply, the client's own retries
 * included: a person waits no longer, and a busy machine delays both.
 */
const REFUSAL_MS_MORE = 10_000;
const REFUSALS: ReadonlySet<string> = new Set(["401", "402", "404"]);
/** LangChain's suite uses them in turn: a key of an application has 60 requests a minute. */
const SUITE_ACCOUNTS = 4;
const EXPENSIVE_MODEL = "expensive-model";
/** In USD for a million tokens. */
const PRICES = { input: "1", output: "2" };
const MILLION = 1_000_000;
const PATHS = { gateway: "/v1", application: "/api/v1" } as const satisfies Record<Surface, string>;
const SURFACES = Object.keys(PATHS) as Surface[];
const TOOLCHAINS = ["javascript", "go", "python"] as const;
/**
 * Each client tries keys that are refused, and one address may do so 60 times in a minute: the
 * clients of Python begin when the minute of the others is over.
 */
const BEGIN_AFTER_MS = { javascript: 0, go: 0, python: 100_000 } as const;

type Toolchain = (typeof TOOLCHAINS)[number];

interface Client {
  readonly name: string;
  readonly toolchain: Toolchain;
  /** The program, below the folder of its toolchain; Go has one program. */
  readonly file: string;
  readonly argument?: string;
  /** Null for a suite that names its checks itself. */
  readonly checks: readonly string[] | null;
  /** The client of docs/clients/ whose program is run, too. */
  readonly page?: string;
}

const WITHOUT_MODELS = CHECKS.filter((check) => !["list", "retrieve", "page"].includes(check));
const WITHOUT_RETRIEVE = CHECKS.filter((check) => check !== "retrieve" && check !== "page");
const WITHOUT_PAGE = CHECKS.filter((check) => check !== "page");
const AGENT_CHECKS = [...WITHOUT_MODELS, "schema"];
const WITHOUT_CHAT = WITHOUT_MODELS.filter((check) => check !== "chat");

/** In the order of the table. AI SDK and LangChain list no models; LiteLLM retrieves none. */
const CLIENTS: readonly Client[] = [
  { name: "OpenAI Python", ...python("openai_client.py", WITHOUT_PAGE) },
  { name: "OpenAI Go", toolchain: "go", file: "", checks: WITHOUT_PAGE },
  { name: "OpenAI JavaScript", ...javascript("openai-client.ts", WITHOUT_PAGE) },
  {
    name: "OpenAI Agents SDK",
    ...javascript("openai-agents-client.ts", AGENT_CHECKS),
    page: "OpenAI Agents SDK",
  },
  { name: "AI SDK chat", ...javascript("ai-sdk-chat-client.ts", WITHOUT_MODELS) },
  {
    name: "AI SDK OpenAI",
    ...javascript("ai-sdk-openai-client.ts", WITHOUT_MODELS),
    page: "AI SDK",
  },
  {
    name: "AI SDK Anthropic",
    ...javascript("ai-sdk-anthropic-client.ts", WITHOUT_MODELS),
    page: "AI SDK with Anthropic's package",
  },
  { name: "LangChain JavaScript", ...javascript("langchain-client.ts", WITHOUT_MODELS) },
  { name: "LangChain Python", ...python("langchain_client.py", WITHOUT_MODELS) },
  {
    name: "LangChain Anthropic",
    ...python("langchain_anthropic_client.py", WITHOUT_MODELS),
    page: "LangChain with Anthropic's package",
  },
  { name: "LangChain's suite", toolchain: "python", file: "langchain_standard.py", checks: null },
  { name: "LiteLLM", ...python("litellm_client.py", WITHOUT_RETRIEVE) },
  { name: "pydantic-ai chat", ...python("pydantic_ai_client.py", AGENT_CHECKS), argument: "chat" },
  {
    name: "pydantic-ai Responses",
    ...python("pydantic_ai_client.py", AGENT_CHECKS),
    argument: "responses",
    page: "pydantic-ai",
  },
  {
    name: "pydantic-ai Messages",
    ...python("pydantic_ai_client.py", AGENT_CHECKS),
    argument: "messages",
  },
  {
    name: "instructor",
    ...python("instructor_client.py", [...WITHOUT_CHAT, "schema"]),
    page: "instructor",
  },
  { name: "joserfc", ...python("receipt_client.py", ["receipt", "inline", "forged", "cost"]) },
];

function python(file: string, checks: readonly string[]) {
  return { toolchain: "python", file, checks } as const;
}

function javascript(file: string, checks: readonly string[]) {
  return { toolchain: "javascript", file, checks } as const;
}

/** The names of the clients for `--only`. */
export const CLIENT_NAMES: readonly string[] = CLIENTS.map(({ name }) => name);

const PREPARE: Readonly<Record<Toolchain, () => Promise<OrMissing<string>>>> = {
  javascript: async () => process.execPath,
  go: async () => {
    // The example shares the packages, and its test only runs built programs.
    await prepareGo("examples/go");
    return await prepareGo("test/product/clients/go");
  },
  python: preparePython,
};

/** Each toolchain has models of its own, so that the upstream knows whose replies it sold. */
const modelOf = (toolchain: Toolchain) => `fare-${toolchain}`;
const otherModelOf = (toolchain: Toolchain) => `other-fare-${toolchain}`;

/**
 * Runs the clients of these names. Toolchains are prepared side by side while the product starts.
 * `progress` hears of each step.
 */
export async function runClients(
  names: readonly string[],
  progress: (line: string) => void,
): Promise<readonly ClientRow[]> {
  const clients = CLIENTS.filter(({ name }) => names.includes(name));
  if (clients.length === 0) return [];
  await using upstream = startObligingUpstream();
  await using product = await startProduct({
    apis: 1,
    ownPostgres: true,
    upstreamUrl: upstream.baseUrl,
    models: [
      ...TOOLCHAINS.flatMap((one) => [
        { id: modelOf(one), ...PRICES },
        { id: otherModelOf(one), ...PRICES },
      ]),
      { id: EXPENSIVE_MODEL, input: "1000", output: "10000" },
    ],
  });
  const world = { product, upstream, progress };
  const toolchains = [...new Set(clients.map(({ toolchain }) => toolchain))];
  const rows = await Promise.all(
    toolchains.map(async (toolchain) => {
      const own = clients.filter((client) => client.toolchain === toolchain);
      const afterMs = toolchains.length > 1 ? BEGIN_AFTER_MS[toolchain] : 0;
      return await runToolchain({ ...world, afterMs }, toolchain, own);
    }),
  );
  const order = (row: ClientRow) => names.indexOf(row.client);
  return [...rows.flat().sort((a, b) => order(a) - order(b)), await ledgerRow(product)];
}

interface World {
  readonly product: Product;
  readonly upstream: ObligingUpstream;
  readonly progress: (line: string) => void;
}

async function runToolchain(
  world: World & { readonly afterMs: number },
  toolchain: Toolchain,
  clients: readonly Client[],
): Promise<ClientRow[]> {
  const startMs = performance.now();
  const program = await PREPARE[toolchain]();
  world.progress(`${toolchain} is ready after ${seconds(performance.now() - startMs)}`);
  await Bun.sleep(Math.max(0, world.afterMs - (performance.now() - startMs)));
  const rows: ClientRow[] = [];
  for (const client of clients) {
    for (const surface of SURFACES) {
      const checks = checksOf(client, surface);
      const row = { client: client.name, surface, checks };
      if (typeof program !== "string") {
        rows.push({ ...row, results: [], missing: program.missing });
        continue;
      }
      const runMs = performance.now();
      const run = await new ClientRun(world, { client, surface, program }).run();
      world.progress(`${client.name}, ${surface}: ${seconds(performance.now() - runMs)}`);
      const reported = run.results.map(({ check }) => check);
      rows.push({ ...row, ...run, checks: client.checks === null ? suite(reported) : checks });
    }
  }
  return rows;
}

const suite = (reported: readonly string[]) => [...reported, "the suite as a whole"];

/** The page has the settings of the gateway. */
function checksOf({ checks, page }: Client, surface: Surface): readonly string[] {
  if (checks === null) return [];
  return page !== undefined && surface === "gateway" ? [...checks, "page"] : checks;
}

interface Run {
  readonly client: Client;
  readonly surface: Surface;
  readonly program: string;
}

/** One client against one surface, with accounts of its own. */
class ClientRun {
  readonly #world: World;
  readonly #run: Run;

  constructor(world: World, run: Run) {
    this.#world = world;
    this.#run = run;
  }

  async run(): Promise<Pick<ClientRow, "results" | "charged">> {
    const { product } = this.#world;
    const { client, surface, program } = this.#run;
    const before = this.#sold();
    const accounts = await this.#accounts();
    const folder = join(PROJECT, "test/product/clients", client.toolchain);
    const { argument = [] } = client;
    const command =
      client.file === "" ? [program] : [program, join(folder, client.file)].concat(argument);
    const { out, problems } = await this.#start(command, await this.#environment(accounts));
    const reported = inTime(out.split("\n").flatMap((line) => reportIn(line)));
    const nothing = `${client.name} on ${surface} reported nothing:\n${out}${problems}`;
    const results =
      reported.length > 0 ? reported : [{ check: "chat", ok: false, detail: nothing }];
    if (client.checks === null) return { results };
    if (checksOf(client, surface).includes("page")) {
      results.push(await this.#page(accounts[0]?.key ?? ""));
    }
    const sold = subtract(this.#sold(), before);
    const charged = await chargedTo(product, accounts);
    const detail = `${dollars(charged)} were charged for replies of ${dollars(sold)}`;
    const isCharged = charged === sold && sold > ZERO;
    return {
      results: [...results, { check: "cost", ok: isCharged, detail }],
      charged: toDecimal(charged),
    };
  }

  async #accounts(): Promise<readonly TestAccount[]> {
    const { client, surface } = this.#run;
    const terms =
      surface === "gateway"
        ? ({ surface, contract: "enterprise", paid: "100" } as const)
        : ({ surface, plan: "max", paid: "100" } as const);
    const count = client.checks === null ? SUITE_ACCOUNTS : 1;
    const accounts: TestAccount[] = [];
    while (accounts.length < count) accounts.push(await this.#world.product.account(terms));
    return accounts;
  }

  /** The environment of each client. */
  async #environment(accounts: readonly TestAccount[]) {
    const { product } = this.#world;
    const { surface, client } = this.#run;
    const keys = accounts.map(({ key }) => key);
    const revoked = await product.newKey(accounts[0]?.id ?? "");
    await revokeKey(product.operator.administration, revoked.id);
    // Enough for a tier whose monthly limit is not reached first, and too little for the model.
    const poor = await product.account({ surface, ...(surface === "gateway" && { paid: "5" }) });
    return {
      CLIENT_BASE_URL: product.api(0).url + PATHS[surface],
      CLIENT_KEY: keys[0] ?? "",
      CLIENT_KEYS: keys.join(","),
      CLIENT_REVOKED_KEY: revoked.key,
      CLIENT_POOR_KEY: poor.key,
      CLIENT_MODEL: modelOf(client.toolchain),
      CLIENT_OTHER_MODEL: otherModelOf(client.toolchain),
      CLIENT_EXPENSIVE_MODEL: EXPENSIVE_MODEL,
      CLIENT_SENTENCE: SENTENCE,
      PYTHONDONTWRITEBYTECODE: "1",
    };
  }

  /** The program of the page for people must run as it stands, and print the answer. */
  async #page(key: string): Promise<CheckResult> {
    const { client, program } = this.#run;
    const url = this.#world.product.api(0).url;
    const model = modelOf(client.toolchain);
    const { programs } = clientPageOf(client.page ?? "", { url, key, model });
    const runs = programs.map(async (text) => {
      const asText = client.toolchain === "python" ? ["-c", text] : ["--eval", text];
      const { out, problems } = await this.#start([program, ...asText], {});
      return out.includes(SENTENCE) ? [] : [`The program printed:\n${out}${problems}`];
    });
    const failures = (await Promise.all(runs)).flat();
    const ok = programs.length > 0 && failures.length === 0;
    return { check: "page", ok, detail: failures.join("\n") };
  }

  async #start(command: readonly string[], environment: Readonly<Record<string, string>>) {
    const child = Bun.spawn([...command], {
      cwd: PROJECT,
      env: { ...process.env, ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: CLIENT_MS_MAX,
    });
    const [out, problems] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    return { out, problems };
  }

  /** The price of all replies of the models of this toolchain until now. */
  #sold(): NanoUsd {
    const { toolchain } = this.#run.client;
    const sums = [modelOf(toolchain), otherModelOf(toolchain)].map((model) => {
      const { prompt, completion } = this.#world.upstream.tokensOf(model);
      return charge([
        [prompt, price(PRICES.input, MILLION)],
        [completion, price(PRICES.output, MILLION)],
      ]);
    });
    return add(...sums);
  }
}

/** The results, of which a refusal that comes late is a failure: its reader has gone. */
function inTime(results: readonly CheckResult[]): CheckResult[] {
  const replies = results.filter(({ check }) => !REFUSALS.has(check));
  const msMax = REFUSAL_MS_MORE + Math.max(0, ...replies.map(({ ms = 0 }) => ms));
  return results.map((result) => {
    const { check, ms = 0 } = result;
    if (!REFUSALS.has(check) || ms <= msMax) return result;
    return { ...result, ok: false, detail: `It was seen only after ${seconds(ms)}` };
  });
}

/** The charges of these accounts in the ledger. */
async function chargedTo(product: Product, accounts: readonly TestAccount[]): Promise<NanoUsd> {
  await product.booked();
  const numbers = accounts.map(({ row }) => row.number);
  const { sql } = product.operator.database;
  const rows = await sql`
    SELECT COALESCE(-SUM(paid_delta + free_delta), 0)::bigint AS charged
    FROM ledger_entries WHERE account = ANY(${numbers}) AND kind = 'charge'`;
  return nano(rows[0]?.charged);
}

/** The proof that wallets and ledger agree on every account that a client used. */
async function ledgerRow(product: Product): Promise<ClientRow> {
  const { difference } = await product.audit();
  const audit = { check: "audit", ok: difference === null, detail: JSON.stringify(difference) };
  return { client: "ledger", surface: "both", checks: ["audit"], results: [audit] };
}

/** A line that a client printed as a result; libraries print other lines too. */
function reportIn(line: string): CheckResult[] {
  const start = line.indexOf('{"check"');
  return start < 0 ? [] : [JSON.parse(line.slice(start)) as CheckResult];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
