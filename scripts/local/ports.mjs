// Chooses the ports of `npm start`.

import { createServer } from "node:net";
import { isPortFree } from "./processes.mjs";

const PORT_DEFAULT = 8080;

/** @type {import("node:net").Server[]} The servers that hold the chosen ports. */
const holders = [];

/**
 * Returns the port of the API: the given one; otherwise the default one, or the next free one after
 * it. The port is held until `releasePorts`, since a start of another home at the same time would
 * choose it too.
 * @param {(line: string) => void} say
 */
export async function choosePort(say) {
  const given = process.env.PORT;
  if (given) {
    const port = Number(given);
    if (!/^\d+$/.test(given) || port < 1 || port > 65_535) {
      throw new Error(`PORT must be a number from 1 to 65535, but is '${given}'.`);
    }
    if (await holdEverywhere(port)) return port;
    throw new Error(`Port ${port} is not free; set PORT to another one.`);
  }
  for (let port = PORT_DEFAULT; port < PORT_DEFAULT + 100; port += 1) {
    if (!(await holdEverywhere(port))) continue;
    if (port !== PORT_DEFAULT) say(`Port ${PORT_DEFAULT} is taken; using ${port}.`);
    return port;
  }
  throw new Error(`No port from ${PORT_DEFAULT} on is free; set PORT.`);
}

/**
 * Returns the port of the payment sandbox: the next free one after the API's, held like the API's.
 * @param {number} apiPort
 */
export async function chooseSandboxPort(apiPort) {
  for (let port = apiPort + 1; port < apiPort + 100 && port <= 65_535; port += 1) {
    if (await hold(port)) return port;
  }
  throw new Error(`No port after ${apiPort} is free for the sandbox of payments.`);
}

/** Returns the metrics ports of both servers. Without a given port the servers choose their own. */
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

/** Releases the chosen ports for the servers that are started now. */
export async function releasePorts() {
  const closing = holders.splice(0).map((holder) => {
    return new Promise((resolve) => holder.close(resolve));
  });
  await Promise.all(closing);
}

/** @param {number} port */
async function holdEverywhere(port) {
  return (await isPortFree(port, "0.0.0.0")) && (await hold(port));
}

/**
 * @param {number} port
 * @returns {Promise<boolean>} false if it is taken
 */
function hold(port) {
  return new Promise((resolve) => {
    const holder = createServer((socket) => socket.destroy());
    holder.once("error", () => resolve(false));
    holder.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      holders.push(holder);
      resolve(true);
    });
  });
}
