// Runs every client against both surfaces of a product that was started for it. A client is a small
// program of its own, which reads the product's address from its environment and prints one line of
// JSON for each check.

import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import type { Surface } from "../../../src/core/access/services.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { type OrMissing, prepareGo, preparePython } from "../../support/product/toolchains.ts";
import { SENTENCE, startObligingUpstream } from "./obliging-upstream.ts";
import { CHECKS, type CheckResult, type ClientRow } from "./table.ts";

/** A client that hangs is ended, and its unreported checks count as failed. */
const CLIENT_MS_MAX = 240_000;
/** LangChain's suite uses them in turn: a key of an application has 60 requests a minute. */
const SUITE_ACCOUNTS = 4;
const MODEL = "fare-model";
const OTHER_MODEL = "other-fare-model";
const EXPENSIVE_MODEL = "expensive-model";
const PATHS = { gateway: "/v1", application: "/api/v1" } as const satisfies Record<Surface, string>;
const SURFACES = Object.keys(PATHS) as Surface[];

type Toolchain = "javascript" | "go" | "python";

interface Client {
  readonly name: string;
  readonly toolchain: Toolchain;
  /** The program, below the folder of its toolchain; Go has one program. */
  readonly file: string;
  /** Null for a suite that names its checks itself. */
  readonly checks: readonly string[] | null;
}

const WITHOUT_MODELS = CHECKS.filter((check) => check !== "list" && check !== "retrieve");
const WITHOUT_RETRIEVE = CHECKS.filter((check) => check !== "retrieve");

/** In the order of the table. AI SDK and LangChain list no models; LiteLLM retrieves none. */
const CLIENTS: readonly Client[] = [
  { name: "OpenAI Python", toolchain: "python", file: "openai_client.py", checks: CHECKS },
  { name: "OpenAI Go", toolchain: "go", file: "", checks: CHECKS },
  { name: "OpenAI JavaScript", toolchain: "javascript", file: "openai-client.ts", checks: CHECKS },
  { name: "AI SDK", toolchain: "javascript", file: "ai-sdk-client.ts", checks: WITHOUT_MODELS },
  {
    name: "LangChain JavaScript",
    toolchain: "javascript",
    file: "langchain-client.ts",
    checks: WITHOUT_MODELS,
  },
  {
    name: "LangChain Python",
    toolchain: "python",
    file: "langchain_client.py",
    checks: WITHOUT_MODELS,
  },
  {
    name: "LangChain's suite",
    toolchain: "python",
    file: "langchain_standard.py",
    checks: null,
  },
  {
    name: "LiteLLM",
    toolchain: "python",
    file: "litellm_client.py",
    checks: WITHOUT_RETRIEVE,
  },
];

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
      { id: MODEL },
      { id: OTHER_MODEL },
      { id: EXPENSIVE_MODEL, input: "1000", output: "10000" },
    ],
  });
  const toolchains = [...new Set(clients.map(({ toolchain }) => toolchain))];
  const rows = await Promise.all(
    toolchains.map(async (toolchain) => {
      const own = clients.filter((client) => client.toolchain === toolchain);
      return await runToolchain(product, { toolchain, clients: own, progress });
    }),
  );
  const order = (row: ClientRow) => names.indexOf(row.client);
  return rows.flat().sort((a, b) => order(a) - order(b));
}

interface Lane {
  readonly toolchain: Toolchain;
  readonly clients: readonly Client[];
  readonly progress: (line: string) => void;
}

async function runToolchain(
  product: Product,
  { toolchain, clients, progress }: Lane,
): Promise<ClientRow[]> {
  const startMs = performance.now();
  const program = await PREPARE[toolchain]();
  progress(`${toolchain} is ready after ${seconds(performance.now() - startMs)}`);
  const rows: ClientRow[] = [];
  for (const client of clients) {
    for (const surface of SURFACES) {
      if (typeof program !== "string") {
        const { missing } = program;
        rows.push({ ...rowOf(client, surface, []), missing });
        continue;
      }
      const runMs = performance.now();
      const results = await runClient(product, { client, surface, program });
      progress(`${client.name}, ${surface}: ${seconds(performance.now() - runMs)}`);
      rows.push(rowOf(client, surface, results));
    }
  }
  return rows;
}

function rowOf({ name, checks }: Client, surface: Surface, results: CheckResult[]): ClientRow {
  const reported = results.map(({ check }) => check);
  return {
    client: name,
    surface,
    checks: checks ?? [...reported, "the suite as a whole"],
    results,
  };
}

interface Run {
  readonly client: Client;
  readonly surface: Surface;
  readonly program: string;
}

async function runClient(product: Product, run: Run): Promise<CheckResult[]> {
  const { client, surface, program } = run;
  const file = join(PROJECT, "test/product/clients", client.toolchain, client.file);
  const child = Bun.spawn(client.file === "" ? [program] : [program, file], {
    cwd: PROJECT,
    env: { ...process.env, ...(await environmentOf(product, run)) },
    stdout: "pipe",
    stderr: "pipe",
    timeout: CLIENT_MS_MAX,
  });
  const [out, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  const results = out.split("\n").flatMap((line) => resultOf(line));
  if (results.length > 0) return results;
  const detail = `${client.name} on ${surface} reported nothing:\n${out}${problems}`;
  return [{ check: "chat", ok: false, detail }];
}

/** The environment of each client. */
async function environmentOf(product: Product, { client, surface }: Run) {
  const terms =
    surface === "gateway"
      ? ({ surface, contract: "enterprise", paid: "100" } as const)
      : ({ surface, plan: "max", paid: "100" } as const);
  const count = client.checks === null ? SUITE_ACCOUNTS : 1;
  const keys: string[] = [];
  for (let made = 0; made < count; made += 1) keys.push((await product.account(terms)).key);
  // Enough for a tier whose monthly limit is not reached first, and too little for the model.
  const poor = await product.account({ surface, ...(surface === "gateway" && { paid: "5" }) });
  return {
    CLIENT_BASE_URL: product.api(0).url + PATHS[surface],
    CLIENT_KEY: keys[0] ?? "",
    CLIENT_KEYS: keys.join(","),
    CLIENT_WRONG_KEY: `${surface === "gateway" ? "svc_live_" : "svc_sk_"}${"x".repeat(38)}`,
    CLIENT_POOR_KEY: poor.key,
    CLIENT_MODEL: MODEL,
    CLIENT_OTHER_MODEL: OTHER_MODEL,
    CLIENT_EXPENSIVE_MODEL: EXPENSIVE_MODEL,
    CLIENT_SENTENCE: SENTENCE,
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

/** A line that a client printed as a result; libraries print other lines too. */
function resultOf(line: string): CheckResult[] {
  const start = line.indexOf('{"check"');
  return start < 0 ? [] : [JSON.parse(line.slice(start)) as CheckResult];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
