// `npm run first-call`: follows the README as a new user would, and prints the seconds from `npm
// start` to the first call with the new user's key. The run needs no existing home.

import { join } from "node:path";
import { freePort, temporaryFolder } from "./local/processes.mjs";

const PROJECT = join(import.meta.dir, "..");
const READY_MS_MAX = 600_000;
const LOOK_MS = 200;
const MODEL = "farebox-guide";

const home = temporaryFolder("farebox-first-call-");
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const cookies = new Map<string, string>();
const startedMs = performance.now();

function say(what: string): void {
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
}

/** Sends the request that a page of the dashboard would send, with its cookies. */
async function ask(path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${origin}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      origin,
      "content-type": "application/json",
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  for (const line of response.headers.getSetCookie()) {
    const [pair = ""] = line.split(";");
    const at = pair.indexOf("=");
    cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

async function untilReady(): Promise<void> {
  for (const endMs = performance.now() + READY_MS_MAX; performance.now() < endMs; ) {
    const ready = await fetch(`${origin}/readyz`).catch(() => null);
    if (ready?.ok === true) return;
    if (product.exitCode !== null) throw new Error("npm start has ended");
    await Bun.sleep(LOOK_MS);
  }
  throw new Error("npm start did not get ready");
}

async function firstCall(): Promise<void> {
  await untilReady();
  say("it runs");
  const person = { name: "Ada", email: "ada@example.com", password: "a long password of Ada's" };
  const { development } = await ask("/console/auth/sign-up/email", person);
  const { link } = development as { readonly link: string };
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token");
  await ask("/console/auth/sign-up/verify", { token });
  say("signed up, by the link of the mail");
  const { accounts } = await ask("/console/api/me");
  const [account] = accounts as readonly { readonly id: string }[];
  const terms = { name: "first", scopes: ["models"] };
  const { key } = await ask(`/console/api/accounts/${account?.id}/keys`, terms);
  say("made a key");
  const messages = [{ role: "user", content: "What is a hold?" }];
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages }),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`The call was refused: ${answer}`);
  say(`the first call is paid: ${response.headers.get("x-svc-cost-usd")} USD`);
}

// Runs the program of `npm start` directly; npm itself would not wait for it to stop.
const product = Bun.spawn(["node", "scripts/start.mjs"], {
  cwd: PROJECT,
  env: { ...process.env, FAREBOX_HOME: home.path, PORT: String(port) },
  stdin: "ignore",
  stdout: "ignore",
  stderr: "inherit",
});
try {
  await firstCall();
} finally {
  product.kill("SIGTERM");
  await product.exited;
  home.remove();
}
