// Places the payment sandbox of `npm start`, and gives the other processes its address.

import { join } from "node:path";
import { secret } from "./home.mjs";
import { chooseSandboxPort } from "./ports.mjs";

export const LOOPBACK = ["", "127.0.0.1", "localhost", "::1"];

/**
 * True if no setting lets other machines reach this installation. A proxy or a tunnel listens
 * beside `HOST`, and only `CONSOLE_URL` shows that (D-550).
 * @param {NodeJS.ProcessEnv} env
 */
export function isOnlyHere({ HOST = "", CONSOLE_URL = "" }) {
  const { hostname } = URL.parse(CONSOLE_URL) ?? { hostname: CONSOLE_URL };
  return [HOST, hostname.replace(/^\[(.*)\]$/, "$1")].every((host) => LOOPBACK.includes(host));
}

/**
 * @typedef {object} Sandbox
 * @property {string} url
 * @property {Record<string, string>} env the variables of processes that use it
 * @property {Record<string, string>} own the variables that the sandbox needs besides
 */

/**
 * True if an environment names a payment provider.
 * @param {NodeJS.ProcessEnv} env
 */
export function namesProvider(env) {
  const names = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"];
  return names.some((name) => Boolean(env[name] || env[`${name}_FILE`]));
}

/**
 * Returns the sandbox for an installation that only this machine can reach and that names no
 * payment provider; null for any other.
 * @param {{ home: string, baseUrl: string, port: number, given: NodeJS.ProcessEnv }} options
 * @returns {Promise<Sandbox | null>}
 */
export async function planSandbox({ home, baseUrl, port, given }) {
  if (namesProvider(given) || !isOnlyHere(given)) return null;
  const own = await chooseSandboxPort(port);
  const url = `http://127.0.0.1:${own}`;
  return {
    url,
    env: {
      STRIPE_SECRET_KEY: `sk_sandbox_${secret()}`,
      STRIPE_WEBHOOK_SECRET: `whsec_${secret()}`,
      STRIPE_API_BASE: url,
      STRIPE_RETURN_URL: `${url}/`,
    },
    own: {
      SANDBOX_PORT: String(own),
      SANDBOX_FILE: join(home, "sandbox.json"),
      SANDBOX_WEBHOOK: `${baseUrl}/webhooks/stripe`,
    },
  };
}
