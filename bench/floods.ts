// Measures the small calls of a neighbour while one sender floods the service. Each flood is also
// sent to a process beside the gateway that only discards it: on a machine that all of them share,
// that shows how much of the delay is the flood's own work and not the gateway's.

import { tmpdir } from "node:os";
import { Accounts } from "../src/store/accounts/accounts.ts";
import { Payments } from "../src/store/payments/payments.ts";
import { createTestAccount } from "../test/support/stores/accounts.ts";
import { random, SECRETS, type Stores } from "./farebox.ts";
import { BUN, freePort, startServer } from "./launch.ts";
import { CHAT_PATH, longChat, REFUSAL_CASES, type RefusalCase } from "./refusal-cases.ts";
import { type Percentiles, percentilesOf } from "./rounds.ts";
import { signUp } from "./sign-up.ts";
import { during, type SmallCaller, timesOf } from "./small-calls.ts";

const CALLERS = 8;

export interface FloodFigures extends Percentiles {
  readonly flood: string;
  /** Requests that the flood made. */
  readonly sent: number;
  /** The neighbour's p99 while the flood goes to a process that discards it. */
  readonly besideP99Ms: number;
}

export interface FloodSetting {
  /** The account whose small calls are slowed down. */
  readonly neighbour: SmallCaller;
  readonly base: string;
  readonly forMs: number;
  readonly cleanup: AsyncDisposableStack;
}

/** The sender of a flood: the path that it calls, and its headers. */
interface Sender {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Flood {
  readonly body: () => string;
  readonly senderOf: (setting: FloodSetting) => Promise<Sender>;
}

/** Sends with the key of one account, Free or suspended. */
function withKey(one: RefusalCase | undefined): Flood {
  if (one === undefined) throw new Error("There is no such refusal");
  const senderOf = async ({ neighbour }: FloodSetting) => ({
    path: CHAT_PATH,
    headers: { "x-api-key": await keyOf(neighbour.stores, one) },
  });
  return { body: one.body, senderOf };
}

const FLOODS: Readonly<Record<string, Flood>> = {
  "429 from memory, 126 KB of keys": withKey(REFUSAL_CASES.rate_limit_exceeded?.[1]),
  "429 from memory, 4 MB": withKey(REFUSAL_CASES.rate_limit_exceeded?.[0]),
  "403, 4 MB": withKey(REFUSAL_CASES.account_inactive?.[0]),
  "400, 126 KB of keys": withKey(REFUSAL_CASES.invalid_parameter?.[1]),
  "402, 4 MB": withKey(REFUSAL_CASES.insufficient_credits?.[0]),
  "estimates of the playground, 4 MB": {
    body: () => `{"path":"${CHAT_PATH}","body":${longChat()}}`,
    async senderOf({ base }) {
      const { account, headers } = await signUp(base, "flood@bench.example");
      return { path: `/console/api/accounts/${account}/playground/estimate`, headers };
    },
  },
};

/** Measures every flood. */
export async function measureFloods(
  setting: FloodSetting,
  progress: (line: string) => void,
): Promise<FloodFigures[]> {
  const beside = await startDiscarding(setting.cleanup);
  const figures: FloodFigures[] = [];
  for (const [flood, { senderOf }] of Object.entries(FLOODS)) {
    progress(`flooding with ${flood}`);
    const sender = await senderOf(setting);
    const { p99Ms: besideP99Ms } = await neighbourOf(setting, { ...sender, flood, base: beside });
    const hit = await neighbourOf(setting, { ...sender, flood, base: setting.base });
    figures.push({ flood, ...hit, besideP99Ms });
  }
  return figures;
}

/** A new key of an account with the terms of a refusal. */
export async function keyOf({ database }: Stores, { terms = {} }: RefusalCase): Promise<string> {
  const accounts = new Accounts({ database, random, keyPepper: SECRETS.KEY_PEPPER });
  const payments = new Payments({ database, random });
  return (await createTestAccount({ accounts, payments }, terms)).key;
}

interface Order extends Sender {
  readonly flood: string;
  readonly base: string;
  readonly forMs: number;
}

async function neighbourOf(
  { neighbour, forMs }: FloodSetting,
  target: Omit<Order, "forMs">,
): Promise<Pick<FloodFigures, "sent" | "p50Ms" | "p99Ms">> {
  // In a process of its own: it would delay the neighbour's calls here.
  const order: Order = { ...target, forMs };
  const command = [BUN, import.meta.path, JSON.stringify(order)];
  const attacker = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const times = await timesOf(neighbour, during(forMs));
  const sent = Number(await attacker.stdout.text());
  return { sent, ...percentilesOf(times) };
}

async function startDiscarding(cleanup: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const program = await startServer({
    name: "discarding",
    command: [BUN, import.meta.path, "discard"],
    env: { PORT: String(port) },
    logFolder: tmpdir(),
    readyUrl: base,
  });
  cleanup.defer(() => program.stop());
  return base;
}

function discard(): void {
  const fetch = () => Response.json({}, { status: 429 });
  Bun.serve({ hostname: "127.0.0.1", port: Number(process.env.PORT), fetch });
}

async function sendFlood({ flood, base, path, headers, forMs }: Order): Promise<void> {
  const bodies = Array.from({ length: CALLERS }, FLOODS[flood]?.body ?? (() => ""));
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  const endMs = performance.now() + forMs;
  let sent = 0;
  const sendInTurn = async (body: string) => {
    while (performance.now() < endMs) {
      const response = await fetch(base + path, { ...init, body });
      await response.bytes();
      sent += 1;
    }
  };
  await Promise.all(bodies.map(sendInTurn));
  console.log(sent);
}

if (import.meta.main) {
  const [order = ""] = process.argv.slice(2);
  if (order === "discard") discard();
  else await sendFlood(JSON.parse(order) as Order);
}
