// Runs agents of others, with the settings that docs/clients/ has for people, against a started
// product: each edits a file, pays the cost of its replies, and shows refusals in words (D-331).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeFolder } from "../../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../../scripts/local/processes.mjs";
import { revokeKey } from "../../../../src/accounts/administration.ts";
import { type Product, startProduct } from "../../../support/product/product.ts";
import { clientPageOf } from "../clients-page.ts";
import type { CheckResult, ClientRow } from "../table.ts";
import { AGENT_PRICES, type AgentModel, REPLY_USD, startAgentModel } from "./agent-model.ts";
import { AGENTS, type Agent, CODEX_MODELS, NEW_TEXT, OLD_TEXT } from "./agents.ts";

const CHECKS = ["edit", "cost", "401", "402", "404"];
/** A refusal may take this much longer than an edit: an agent that goes on asking takes more. */
const REFUSAL_MS_MORE = 10_000;
const RUN_MS_MAX = 90_000;
const MODEL = "swift-1";

export const AGENT_NAMES: readonly string[] = AGENTS.map(({ name }) => name);

/** Runs the agents of these names, one after the other. `progress` hears of each. */
export async function runAgents(
  names: readonly string[],
  progress: (line: string) => void,
): Promise<readonly ClientRow[]> {
  const agents = AGENTS.filter(({ name }) => names.includes(name));
  if (agents.length === 0) return [];
  const programs = await install(agents);
  await using model = startAgentModel();
  const options = { apis: 1, ownPostgres: true, upstreamUrl: model.baseUrl };
  await using product = await startProduct({
    ...options,
    models: [MODEL, ...Object.values(CODEX_MODELS)].map((id) => {
      return { id, ...AGENT_PRICES, freeEligible: false };
    }),
  });
  const rows: ClientRow[] = [];
  for (const agent of agents) {
    const run = await new AgentRun(product, model, { agent, programs }).run(progress);
    rows.push({ client: agent.name, surface: "gateway", checks: CHECKS, ...run });
  }
  const { difference } = await product.audit();
  const audit = resultOf("audit", difference === null, JSON.stringify(difference));
  return [...rows, { client: "ledger", surface: "gateway", checks: ["audit"], results: [audit] }];
}

/** Installs the agents below the home of Farebox, once; the path of their programs. */
async function install(agents: readonly Agent[]): Promise<string> {
  const wanted = [...new Set(agents.map((one) => `${one.package}@${one.version}`))];
  const folder = join(homeFolder(), "clients", `agents-${Bun.hash(wanted.join(" ")).toString(36)}`);
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}');
    const command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...wanted];
    const child = Bun.spawn(command, { cwd: folder, stdout: "inherit", stderr: "inherit" });
    if ((await child.exited) !== 0) throw new Error("The agents cannot be installed");
    writeFileSync(complete, "");
  }
  return join(folder, "node_modules/.bin");
}

interface Shown {
  readonly text: string;
  readonly ms: number;
  /** The file that it was to edit. */
  readonly file: string;
}

class AgentRun {
  readonly #agent: Agent;
  readonly #programs: string;

  constructor(
    readonly product: Product,
    readonly model: AgentModel,
    { agent, programs }: { readonly agent: Agent; readonly programs: string },
  ) {
    this.#agent = agent;
    this.#programs = programs;
  }

  async run(progress: (line: string) => void): Promise<Pick<ClientRow, "results" | "charged">> {
    const { name, unknownModel } = this.#agent;
    const rich = await this.product.account({ contract: "enterprise", paid: "100", free: "0" });
    const poor = await this.product.account({ paid: "0.000001", free: "0" });
    const edited = await this.#run(rich.key);
    const { replies } = this.model;
    const spent = await this.#spent(rich.key);
    progress(`${name}: ${replies} replies for $${spent}, ${Math.round(edited.ms)} ms`);
    const msMax = edited.ms + REFUSAL_MS_MORE;
    const refused = (check: string, words: RegExp, { text, ms }: Shown) =>
      resultOf(check, words.test(text) && ms <= msMax, `after ${Math.round(ms)} ms:\n${text}`);
    const isExact = Math.abs(spent - replies * REPLY_USD) < 1e-9;
    const revoked = await this.product.newKey(rich.id);
    await revokeKey(this.product.operator.administration, revoked.id);
    const results = [
      resultOf("edit", edited.file.trim() === NEW_TEXT, edited.text),
      resultOf("cost", replies > 1 && isExact, `${replies} replies cost $${spent}`),
      refused("401", /API key is wrong or was revoked/, await this.#run(revoked.key)),
      refused("402", /can cost up to/, await this.#run(poor.key)),
      refused("404", unknownModel ?? /model must be an id/, await this.#run(rich.key, "no-such")),
    ];
    return { results, charged: String(spent) };
  }

  /** Runs the agent as its page says, in a folder with the file. */
  async #run(key: string, model = this.#agent.model ?? MODEL): Promise<Shown> {
    const { name, page = name } = this.#agent;
    const folder = temporaryFolder("farebox-agent-");
    const file = join(folder.path, "fare.txt");
    writeFileSync(file, OLD_TEXT);
    this.model.script(this.#agent.steps, file);
    const { url } = this.product.api(0);
    const { files, command } = clientPageOf(page, { url, key, model });
    for (const [at, text] of files) {
      mkdirSync(dirname(join(folder.path, at)), { recursive: true });
      writeFileSync(join(folder.path, at), text);
    }
    if (command === null) throw new Error(`The page of '${page}' has no command`);
    const startMs = performance.now();
    const script = `${command.trim()} ${this.#agent.unattended}`;
    const child = Bun.spawn(["bash", "-c", script], {
      cwd: folder.path,
      env: {
        PATH: `${this.#programs}:${process.env.PATH}`,
        HOME: folder.path,
        XDG_DATA_HOME: join(folder.path, "data"),
        ...this.#agent.env,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: RUN_MS_MAX,
    });
    const [out, problems] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    const ms = performance.now() - startMs;
    const shown = { text: out + problems, ms, file: readFileSync(file, "utf8") };
    folder.remove();
    return shown;
  }

  async #spent(key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${this.product.api(0).url}/v1/me`, { headers });
    const { month } = (await response.json()) as { month: { spent_usd: number } };
    return month.spent_usd;
  }
}

function resultOf(check: string, ok: boolean, detail: string): CheckResult {
  return ok ? { check, ok } : { check, ok, detail: detail.slice(-2_000) };
}
