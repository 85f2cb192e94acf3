// The ports of `npm start`.

import { isPortFree } from "./processes.mjs";

const PORT_DEFAULT = 8080;

/**
 * The port of the API: the given one; otherwise the default one, or the next free one after it.
 * @param {(line: string) => void} say
 */
export async function choosePort(say) {
  const given = process.env.PORT;
  if (given) {
    const port = Number(given);
    if (!/^\d+$/.test(given) || port < 1 || port > 65_535) {
      throw new Error(`PORT must be a number from 1 to 65535, but is '${given}'.`);
    }
    if (await isFreeEverywhere(port)) return port;
    throw new Error(`Port ${port} is not free; set PORT to another one.`);
  }
  for (let port = PORT_DEFAULT; port < PORT_DEFAULT + 100; port += 1) {
    if (!(await isFreeEverywhere(port))) continue;
    if (port !== PORT_DEFAULT) say(`Port ${PORT_DEFAULT} is taken; using ${port}.`);
    return port;
  }
  throw new Error(`No port from ${PORT_DEFAULT} on is free; set PORT.`);
}

/**
 * The port of the payment sandbox: the next free one after the API's.
 * @param {number} apiPort
 */
export async function chooseSandboxPort(apiPort) {
  for (let port = apiPort + 1; port < apiPort + 100 && port <= 65_535; port += 1) {
    if (await isPortFree(port, "127.0.0.1")) return port;
  }
  throw new Error(`No port after ${apiPort} is free for the sandbox of payments.`);
}

/** The metrics ports of both servers. Without a given port they choose their own. */
export async function chooseMetricsPorts() {
  const given = process.env.METRICS_PORT;
  if (!given || given === "0") return { api: given, worker: given };
  const api = Number(given);
  if (!/^\d+$/.test(given) || api > 65_534) {
    throw new Error(`METRICS_PORT must be a number from 0 to 65534, but is '${given}'.`);
  }
  const host = process.env.METRICS_HOST || "127.0.0.1";
  for (const port of [api, api + 1]) {
    if (await isPortFree(port, host)) continue;
    throw new Error(
      `Port ${port} is not free. METRICS_PORT is the API's and the one after it the worker's; ` +
        "set it to another one.",
    );
  }
  return { api: String(api), worker: String(api + 1) };
}

/** @param {number} port */
async function isFreeEverywhere(port) {
  return (await isPortFree(port, "127.0.0.1")) && (await isPortFree(port, "0.0.0.0"));
}
