// Prints the messages of `npm start` once everything runs.

import { join, relative } from "node:path";

/** The text of `npm start -- --help`. */
export const USAGE = `Usage: npm start [-- --logs | --stores]

Starts Farebox with everything it needs. --logs (or FAREBOX_LOGS=1) shows the logs here.
--stores starts only the stores, for commands that must run alone, such as farebox restore.

  PORT           the port of the API; 8080, or the next free one
  METRICS_PORT   the port of the API's metrics; the worker has the next one
  FAREBOX_HOME   where the data is kept; .farebox
  FAREBOX_REDIS_MEMORY   the limit of the private Redis, as 70% or 4gb; 70%
  REDIS_URL      a Redis 7 of your own (appendfsync always, noeviction), instead of a private one
  DATABASE_URL   a Postgres 18 of your own, instead of a private one`;

/**
 * Prints the address of Farebox, and a first call to try.
 * @param {object} started
 * @param {string} started.baseUrl
 * @param {string} started.home
 * @param {boolean} started.showLogs
 * @param {{ account: string, key: string, sign_in_link: string | null }} started.demo
 * @param {NodeJS.ProcessEnv} started.env the environment of the servers
 * @param {string | null} started.sandbox where the sandbox of payments is
 */
export function welcome({ baseUrl, home, showLogs, demo, env, sandbox }) {
  const { account, key, sign_in_link: link } = demo;
  const origin = link?.replace(/\/dashboard\/.*/, "");
  const dashboard = link === null ? "" : `\n  Dashboard  ${origin}/dashboard\n  Sign in    ${link}`;
  const payments = sandbox === null ? "" : `\n  Payments   ${sandbox} (a sandbox: no real money)`;
  const topUp =
    sandbox === null
      ? ""
      : `\nTop up the balance, with test cards:\n
npm run -s farebox -- topup link ${account} --usd 20 --save-card\n`;
  const body =
    '{"model":"farebox-guide","messages":[{"role":"user","content":"What is Farebox?"}]}';
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  const logs = showLogs ? "" : `\n  Logs       ${shown(join(home, "logs"))}/api.log, worker.log`;
  console.log(`
Farebox is running. Ctrl-C stops it; the next start finds its data again.

  Base URL   ${baseUrl}
  Key        ${key}${dashboard}
  Data       ${shown(home)}${logs}${payments}

Try it:

curl ${baseUrl}/v1/chat/completions ${headers} -d '${body}'

Or with the OpenAI SDK (npm install openai), in a file ask.mjs:

import OpenAI from "openai";
const client = new OpenAI({ baseURL: "${baseUrl}/v1", apiKey: "${key}" });
const messages = [{ role: "user", content: "What is a hold?" }];
const reply = await client.chat.completions.create({ model: "farebox-guide", messages });
console.log(reply.choices[0].message.content, reply.svc);
${topUp}${warningsOf(env, sandbox).join("\n")}`);
}

/**
 * Warns of settings that must change before other machines reach the installation.
 * @param {NodeJS.ProcessEnv} env
 * @param {string | null} sandbox
 */
export function warningsOf(env, sandbox) {
  const isDevelopment = sandbox !== null || env.CONSOLE_SHOW_MAILS === "true";
  const words = [
    isDevelopment &&
      `WARNING: this is for development on this machine. Whoever reaches port ${env.PORT} can read
mailed codes or pay with test cards: before a proxy or a tunnel leads here, set CONSOLE_URL.`,
    env.NODE_TLS_REJECT_UNAUTHORIZED === "0" &&
      "WARNING: NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked. Unset it.",
  ];
  return words.flatMap((line) => (line === false ? [] : [`\n${line}`]));
}

/**
 * Prints that only the stores run.
 * @param {string} home
 */
export function welcomeStores(home) {
  console.log(`
Only the stores of ${shown(home)} run: no call is served, and commands work. Ctrl-C stops them.

npm run -s farebox -- restore FOLDER --dry-run
`);
}

/**
 * A path relative to the working folder, if it is below.
 * @param {string} path
 */
export function shown(path) {
  const short = relative(process.cwd(), path);
  return short === "" || short.startsWith("..") ? path : short;
}
