// Runs a private Redis: finds or installs it, repairs its data, starts it on loopback and on a Unix
// socket, and stops it in order.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { logFile, readJson, secret, writeJson } from "./home.mjs";
import { freePort, lastWords, launch, sleep, stopLeftover } from "./processes.mjs";
import { redisMemory } from "./redis-memory.mjs";
import { ensureRedis } from "./redis-programs.mjs";

/**
 * @typedef {import("./processes.mjs").Child} Child
 *
 * @typedef {object} Service
 * @property {string} url
 * @property {number} port
 * @property {string} dir its data
 * @property {Child} child
 * @property {() => Promise<void>} stop
 *
 * @typedef {Service & { socketUrl: string | null }} RedisService `socketUrl` leads to the same
 *   server over its Unix socket, at less CPU for both sides; null if it has none
 *
 * @typedef {object} RedisCluster
 * @property {RedisService[]} nodes as they are now; `restart` puts another one into its place
 * @property {string[]} urls
 * @property {(index: number) => Promise<void>} restart on the same port and data
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} RedisOptions
 * @property {string} home
 * @property {number} [port] the given one or none; without it the remembered or any free one
 * @property {boolean} [password] whether clients must know one; true unless told
 * @property {boolean} [repair] whether to repair the append-only file first; true unless told
 * @property {boolean} [socket] whether it has a Unix socket too; true unless told
 * @property {Record<string, string>} [settings] further lines of redis.conf
 * @property {(line: string) => void} [progress]
 *
 * @typedef {import("./redis-programs.mjs").RedisProgram} RedisProgram
 */

const READY_MS = 120_000;
/** The longest socket path of the kernel of macOS; Linux takes 107 bytes. */
const SOCKET_PATH_BYTES_MAX = 103;
const SOCKET_FAILED = /Failed .*unix socket/i;

/**
 * Starts the Redis of a home and waits until it answers.
 * @param {RedisOptions} options
 * @returns {Promise<RedisService>}
 */
export async function startRedis(options) {
  const { home, progress = () => {} } = options;
  const dir = join(home, "redis");
  const stateFile = join(home, "redis.json");
  const state = readJson(stateFile) ?? {};
  const found = await ensureRedis(progress);
  if (await stopLeftover(state, "SIGTERM")) progress("Stopped the Redis that an earlier run left.");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (options.repair !== false) repairAof(found, dir, progress);
  const password = options.password === false ? "" : (state.password ?? secret());
  const socket = options.socket === false ? null : socketOf(home);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort(attempt === 1 ? state.port : undefined));
    const child = spawnRedis(found, options, { dir, port, socket, password });
    writeJson(stateFile, { port, password, ...child.record });
    const failure = await untilReady(child, {
      port,
      password,
      log: join(home, "logs", "redis.log"),
    });
    if (failure === null) {
      const url = `redis://${password === "" ? "" : `:${password}@`}127.0.0.1:${port}`;
      const socketUrl = socket === null ? null : socketUrlOf(socket, password);
      return { url, socketUrl, port, dir, child, stop: () => child.stop() };
    }
    // Some file systems, such as shared folders of virtual machines, have no sockets.
    if (socket !== null && SOCKET_FAILED.test(failure)) {
      return startRedis({ ...options, socket: false });
    }
    // Another program may have taken the port since it was found free.
    if (!failure.includes("Address already in use") || attempt === 3) throw new Error(failure);
  }
}

/**
 * Returns the path of the socket of a home; null if it is too long for the kernel. Redis replaces a
 * socket that a crash has left there.
 * @param {string} home
 */
function socketOf(home) {
  const path = resolve(home, "redis.sock");
  return Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX ? null : path;
}

/**
 * @param {string} path
 * @param {string} password
 */
function socketUrlOf(path, password) {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `unix://${encoded}${password === "" ? "" : `?password=${password}`}`;
}

/**
 * Three masters that share all slots: the smallest Redis Cluster. For tests.
 * @param {string} home
 * @param {(line: string) => void} [progress]
 * @returns {Promise<RedisCluster>}
 */
export async function startRedisCluster(home, progress = () => {}) {
  const nodes = await Promise.all(
    [0, 1, 2].map((index) => startClusterNode(home, { index, progress })),
  );
  const ends = [0, 5461, 10_923, 16_384];
  for (const [index, node] of nodes.entries()) {
    const [first = 0, next = 0] = ends.slice(index);
    await expectOk(node.port, ["CLUSTER", "SET-CONFIG-EPOCH", String(index + 1)]);
    await expectOk(node.port, ["CLUSTER", "ADDSLOTSRANGE", String(first), String(next - 1)]);
  }
  for (const node of nodes.slice(1)) {
    const meet = ["CLUSTER", "MEET", "127.0.0.1", String(node.port), String(node.busPort)];
    await expectOk(nodes[0]?.port ?? 0, meet);
  }
  await Promise.all(nodes.map((node) => untilClusterOk(node.port, nodes.length)));
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const restart = async (/** @type {number} */ index) => {
    const node = nodes[index];
    if (node === undefined) throw new Error(`The Cluster has no node ${index}`);
    await node.stop();
    nodes[index] = await startClusterNode(home, { index, progress, earlier: node });
  };
  return { nodes, urls: nodes.map((node) => node.url), restart, stop };
}

/**
 * @param {string} home
 * @param {{
 *   index: number,
 *   progress: (line: string) => void,
 *   earlier?: { port: number, busPort: number },
 * }} node `earlier`: the ports that it had before its restart
 * @returns {Promise<RedisService & { busPort: number }>}
 */
async function startClusterNode(home, { index, progress, earlier }) {
  const nodeHome = join(home, `node-${index}`);
  mkdirSync(join(nodeHome, "logs"), { recursive: true });
  const busPort = earlier?.busPort ?? (await freePort());
  const settings = {
    "cluster-enabled": "yes",
    "cluster-port": String(busPort),
    "cluster-node-timeout": "5000",
    "cluster-announce-ip": "127.0.0.1",
  };
  const port = earlier === undefined ? {} : { port: earlier.port };
  // Nodes learn each other's ports from us.
  const options = { home: nodeHome, password: false, socket: false, settings, progress };
  const node = await startRedis({ ...options, ...port });
  return { ...node, busPort };
}

/**
 * @param {number} port
 * @param {number} nodes
 */
async function untilClusterOk(port, nodes) {
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 50) {
    const info = await redisCommand(port, "", ["CLUSTER", "INFO"]);
    if (info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${nodes}`)) return;
    await sleep(50);
  }
  throw new Error("The Redis Cluster did not form within 30 seconds.");
}

/**
 * @param {number} port
 * @param {string[]} command
 */
async function expectOk(port, command) {
  const reply = await redisCommand(port, "", command);
  if (!reply.startsWith("+OK")) throw new Error(`Redis refused '${command.join(" ")}': ${reply}`);
}

/**
 * @param {RedisProgram} found
 * @param {RedisOptions} options
 * @param {{ dir: string, port: number, socket: string | null, password: string }} access
 */
function spawnRedis(found, options, { dir, port, socket, password }) {
  // A file and not arguments, because every user of the machine can read the arguments of a
  // process.
  const file = join(options.home, "redis.conf");
  const settings = {
    bind: "127.0.0.1",
    "protected-mode": "yes",
    port: String(port),
    ...(socket === null ? {} : { unixsocket: JSON.stringify(socket), unixsocketperm: "700" }),
    ...(password === "" ? {} : { requirepass: password }),
    dir: JSON.stringify(dir),
    appendonly: "yes",
    appendfsync: "always",
    // With the default of 64 MB the file would be rewritten every few seconds under load (D-491).
    "auto-aof-rewrite-min-size": "512mb",
    save: '""',
    maxmemory: String(redisMemory(process.env.FAREBOX_REDIS_MEMORY)),
    "maxmemory-policy": "noeviction",
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  const log = logFile(options.home, "redis");
  writeFileSync(log, "", { flag: "a", mode: 0o600 });
  return launch({ name: "Redis", command: [found.server, file], logFile: log, cwd: dir });
}

/**
 * @param {Child} child
 * @param {{ port: number, password: string, log: string }} access
 * @returns {Promise<string | null>} why it ended, or null when it is ready
 */
async function untilReady(child, { port, password, log }) {
  for (const endMs = Date.now() + READY_MS; Date.now() < endMs; await sleep(10)) {
    if (child.exit() !== null) return `Redis ended while it started:\n${lastWords(log)}`;
    const reply = await redisCommand(port, password, ["PING"]).catch(() => "");
    if (reply.startsWith("+PONG") && child.exit() === null) return null;
  }
  await child.stop();
  return `Redis did not answer within ${READY_MS / 1000} seconds:\n${lastWords(log)}`;
}

/**
 * Sends one command over its own connection and resolves with the raw reply.
 * @param {number} port
 * @param {string} password
 * @param {string[]} command
 * @returns {Promise<string>}
 */
export function redisCommand(port, password, command) {
  const commands = password === "" ? [command] : [["AUTH", password], command];
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect({ port, host: "127.0.0.1" });
    socket.setEncoding("utf8");
    socket.setTimeout(5_000, () => socket.destroy(new Error("Redis does not answer")));
    socket.on("connect", () => socket.end([...commands, ["QUIT"]].map(encode).join("")));
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(password === "" ? received : received.replace("+OK\r\n", "")));
  });
}

/** @param {string[]} command */
function encode(command) {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${command.length}\r\n${parts.join("")}`;
}

/**
 * Cuts an incomplete write off the end of the append-only file. Redis would load such a file, too,
 * but a write that was cut inside a transaction comes back halved at the second start.
 * @param {RedisProgram} found
 * @param {string} dir
 * @param {(line: string) => void} progress
 */
function repairAof(found, dir, progress) {
  const manifest = join(dir, "appendonlydir", "appendonly.aof.manifest");
  if (!existsSync(manifest)) return;
  const answer = spawnSync(found.checkAof, ["--fix", manifest], { input: "y\n", encoding: "utf8" });
  if (answer.status !== 0) {
    throw new Error(
      `Redis cannot repair ${manifest}:\n${answer.stdout ?? ""}${answer.stderr ?? ""}`.trimEnd(),
    );
  }
  // Most often one incomplete write is cut off, but damage in the middle loses everything after it.
  const [, bytes] = /from \d+ bytes, with (\d+) bytes/.exec(answer.stdout) ?? [];
  if (answer.stdout.includes("Successfully truncated")) {
    progress(
      `Cut the last ${bytes} bytes off the append-only file of Redis, which cannot be read.`,
    );
  }
}
