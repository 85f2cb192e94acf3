// `bun bench/mail.ts` measures messages per second on the whole path, from the request to the
// settlement, with one API process, one worker and a mail server that accepts everything at once.

import { mkdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { freePort, temporaryFolder } from "../scripts/local/processes.mjs";
import { changeAccount, createAccount, createKey } from "../src/accounts/administration.ts";
import { recordPayment } from "../src/accounts/payments.ts";
import { usd } from "../src/core/money/money.ts";
import { Accounts } from "../src/store/accounts/accounts.ts";
import { Payments } from "../src/store/payments/payments.ts";
import { random, SECRETS, type Stores, startStores } from "./farebox.ts";
import { BUN, startServer } from "./launch.ts";
import { cpuSeconds } from "./load/process-usage.ts";

/** An account may send 600 messages a minute. */
const ACCOUNTS = 60;
const AT_ONCE = 32;
const WARM_UP_MS = 4_000;
const RUN_MS = 15_000;
const ALONE = 200;

interface Sink {
  readonly url: string;
  /** The time from MAIL FROM to the acceptance of each message. */
  readonly conversationsMs: number[];
  taken: number;
}

await using cleanup = new AsyncDisposableStack();
const folder = temporaryFolder("farebox-bench-mail-");
cleanup.defer(() => folder.remove());
const stores = await startStores(folder.path);
cleanup.defer(() => stores.stop());
const sink = await startSink();
const logFolder = join(folder.path, "logs");
mkdirSync(logFolder, { recursive: true });
const api = await start("api", "src/main.ts", "/readyz");
const worker = await start("worker", "workers/main.ts", "/metrics");
const keys = await makeKeys(stores);
let next = 0;

await load(WARM_UP_MS);
const before = { taken: sink.taken, api: cpuSeconds(api.pid), worker: cpuSeconds(worker.pid) };
const seconds = await load(RUN_MS);
const sent = sink.taken - before.taken;
const perMessage = (used: number) => `${((used * 1e6) / sent).toFixed(0)} us`;
console.log(`${(sent / seconds).toFixed(0)} messages a second, ${AT_ONCE} at once`);
console.log(`CPU a message: API ${perMessage(cpuSeconds(api.pid) - before.api)}`);
console.log(`CPU a message: worker ${perMessage(cpuSeconds(worker.pid) - before.worker)}`);

sink.conversationsMs.length = 0;
const startMs = performance.now();
for (let count = 0; count < ALONE; count += 1) await send();
const wholeMs = (performance.now() - startMs) / ALONE;
const insideMs = sink.conversationsMs.reduce((sum, ms) => sum + ms, 0) / ALONE;
const outside = (1 - insideMs / wholeMs) * 100;
console.log(`One at a time: ${wholeMs.toFixed(1)} ms, ${outside.toFixed(0)} % of it outside SMTP`);

/** Keeps a number of requests open for this time; returns the seconds that passed. */
async function load(forMs: number): Promise<number> {
  const startMs = performance.now();
  const one = async () => {
    while (performance.now() - startMs < forMs) await send();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return (performance.now() - startMs) / 1_000;
}

async function send(): Promise<void> {
  const key = keys[next++ % keys.length];
  const reply = await fetch(`${api.url}/v1/mail/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      to: "ada@example.test",
      subject: "Your receipt",
      text: "Thank you.\n".repeat(50),
      html: `<html><body>${"<p>Thank you.</p>".repeat(50)}</body></html>`,
    }),
  });
  const body = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.status} ${body}`);
}

async function start(name: string, file: string, ready: string) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const program = await startServer({
    name,
    command: [BUN, file],
    env: {
      ...SECRETS,
      REDIS_URL: stores.redisUrl,
      DATABASE_URL: stores.databaseUrl,
      FAREBOX_HOME: stores.home,
      MAIL_SMTP_URL: sink.url,
      MAIL_DOMAIN: "mail.bench.test",
      LOG_LEVEL: "warn",
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    },
    logFolder,
    readyUrl: ready === "/metrics" ? `http://127.0.0.1:${metricsPort}/metrics` : url + ready,
  });
  cleanup.defer(() => program.stop());
  return { url, pid: program.pid };
}

async function startSink(): Promise<Sink> {
  const began = new Map<string, number>();
  const conversationsMs: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onMailFrom(_, { id }, done) {
      began.set(id, performance.now());
      done();
    },
    onData(stream, { id }, done) {
      stream.resume();
      stream.on("end", () => {
        conversationsMs.push(performance.now() - (began.get(id) ?? 0));
        self.taken += 1;
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  const self: Sink = { url: `smtp://127.0.0.1:${port}?tls=none`, conversationsMs, taken: 0 };
  return self;
}

async function makeKeys({ database, actors }: Stores): Promise<string[]> {
  const accounts = new Accounts({ database, random, keyPepper: SECRETS.KEY_PEPPER });
  const onDelayed = (id: string, error: unknown) => console.error(id, error);
  const payments = new Payments({ database, random });
  const deps = { accounts, payments, actors, now: Date.now, onDelayed };
  const made: string[] = [];
  const terms = { name: "bench", scopes: ["mail"], ipAllowlist: [], monthlyLimit: null } as const;
  for (let count = 0; count < ACCOUNTS; count += 1) {
    const { id } = await createAccount(deps, { surface: "gateway", email: "ada@bench.test" });
    await changeAccount(deps, id, { kind: "contract", contract: "enterprise" });
    await recordPayment(deps, id, { amount: usd("1000"), paidAt: new Date() });
    made.push((await createKey(deps, id, terms)).key);
  }
  return made;
}
