// Starts child processes that cannot outlive this one, and recognises those of earlier runs.

import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Identifies a process across runs. A pid alone is not enough: after a reboot, or in the next run
 * of a container, another process may have it.
 * @typedef {{ pid: number, born: string }} ProcessRecord
 *
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit
 *
 * @typedef {object} Child
 * @property {string} name
 * @property {ProcessRecord} record
 * @property {Promise<Exit>} exited
 * @property {() => Exit | null} exit null while it runs
 * @property {(timeoutMs?: number) => Promise<void>} stop orderly, and by force after the time
 * @property {() => Promise<void>} kill9
 *
 * @typedef {object} LaunchOptions
 * @property {string} name
 * @property {string[]} command
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {{ uid: number, gid: number } | null} [user]
 * @property {string | null} [logFile] where its output is appended; null: this console
 * @property {"SIGTERM" | "SIGINT"} [stopSignal]
 */

/**
 * A shell that is replaced by the command, with a watcher beside it that reads from a pipe of ours.
 * However the launcher ends, even by kill -9, the pipe closes and the watcher stops the command.
 */
const LEASH = `exec 3<&0 </dev/null
signal=$1; shift
( { read -r end <&3; kill -s "$signal" $$; } >/dev/null 2>&1 & )
exec "$@" 3<&-`;

/** Removes a folder once the launcher is gone, after its child processes had time to end. */
const JANITOR = `read -r end; sleep 2; rm -rf -- "$1" || { sleep 5; rm -rf -- "$1"; }`;

/**
 * Starts a command that cannot outlive this process. The command gets its own process group: a
 * Ctrl-C in the terminal reaches the launcher alone, which then stops its children in the right
 * order.
 * @param {LaunchOptions} options
 * @returns {Child}
 */
export function launch(options) {
  const signal = options.stopSignal ?? "SIGTERM";
  const log = options.logFile ? openSync(options.logFile, "a", 0o600) : null;
  const child = spawn("sh", ["-c", LEASH, "sh", signal.slice(3), ...options.command], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ["pipe", log ?? "inherit", log ?? "inherit"],
    ...(options.user ?? {}),
  });
  if (log !== null) closeSync(log);
  /** @type {Exit | null} */
  let exit = null;
  const exited = new Promise((resolve) => {
    /** @param {Exit} how */
    const settle = (how) => {
      exit ??= how;
      child.stdin?.destroy();
      resolve(exit);
    };
    child.on("error", () => settle({ code: 127, signal: null }));
    child.on("exit", (code, by) => settle({ code, signal: by }));
  });
  child.stdin?.on("error", () => {});
  const pid = child.pid ?? -1;
  return {
    name: options.name,
    record: { pid, born: bornOf(pid) ?? "" },
    exited,
    exit: () => exit,
    stop: (timeoutMs = 20_000) => end(child, exited, { signal, timeoutMs }),
    kill9: () => end(child, exited, { signal: "SIGKILL", timeoutMs: 20_000 }),
  };
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {Promise<Exit>} exited
 * @param {{ signal: NodeJS.Signals, timeoutMs: number }} how
 */
async function end(child, exited, { signal, timeoutMs }) {
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  await exited;
  clearTimeout(timer);
}

/**
 * Returns the start of a process, in a form that no other process of any run has; null if the
 * process is gone.
 * @param {number} pid
 * @returns {string | null}
 */
export function bornOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform === "linux") return bornOnLinux(pid);
  const answer = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" });
  const line = answer.stdout?.trim() ?? "";
  return line === "" || line.startsWith("Z") ? null : line.replace(/^\S+\s+/, "");
}

/**
 * @param {number} pid
 * @returns {string | null}
 */
function bornOnLinux(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name may contain spaces and brackets; the fields after its last ")" do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return null;
  }
}

/**
 * @param {Partial<ProcessRecord> | null | undefined} record
 * @returns {record is ProcessRecord}
 */
export function isAlive(record) {
  return typeof record?.pid === "number" && bornOf(record.pid) === record.born;
}

/**
 * Stops a process that an earlier run left running. A process that only has the same pid is left
 * alone.
 * @param {Partial<ProcessRecord> | null | undefined} record
 * @param {NodeJS.Signals} signal
 * @returns {Promise<boolean>} true if there was one
 */
export async function stopLeftover(record, signal) {
  if (!isAlive(record)) return false;
  process.kill(record.pid, signal);
  for (let waitedMs = 0; isAlive(record); waitedMs += 50) {
    if (waitedMs === 15_000) process.kill(record.pid, "SIGKILL");
    if (waitedMs > 20_000) throw new Error(`Process ${record.pid} does not end; stop it by hand.`);
    await sleep(50);
  }
  return true;
}

/**
 * Runs a command to its end with its output on this console.
 * @param {string[]} command
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv,
 *   stdio?: import("node:child_process").StdioOptions }} [options]
 * @returns {Promise<number>} its exit code; 127 when it does not exist
 */
export function run([program = "", ...args], options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", ...options });
    const stop = () => child.kill("SIGTERM");
    process.once("exit", stop);
    child.on("error", () => resolve(127));
    child.on("exit", (code, signal) => {
      process.removeListener("exit", stop);
      resolve(code ?? exitCodeOf({ code, signal }));
    });
  });
}

/**
 * Runs a command to its end, and shows its output only if it fails.
 * @param {string[]} command
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<number>} its exit code; 127 when it does not exist
 */
export async function runQuietly(command, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "farebox-output-"));
  const file = join(folder, "output");
  const output = openSync(file, "a", 0o600);
  try {
    const code = await run(command, { ...options, stdio: ["ignore", output, output] });
    if (code !== 0) process.stderr.write(readFileSync(file));
    return code;
  } finally {
    closeSync(output);
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The exit code that a shell would report.
 * @param {Exit} exit
 */
export function exitCodeOf({ code, signal }) {
  const numbers = {
    SIGHUP: 1,
    SIGINT: 2,
    SIGQUIT: 3,
    SIGABRT: 6,
    SIGKILL: 9,
    SIGSEGV: 11,
    SIGTERM: 15,
  };
  if (code !== null) return code;
  return 128 + (numbers[/** @type {keyof typeof numbers} */ (signal)] ?? 0);
}

/**
 * @param {number} port
 * @param {string} [host]
 * @returns {Promise<boolean>}
 */
export function isPortFree(port, host = "127.0.0.1") {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Ports that no system gives to outgoing connections: Linux takes those from 32768 on. Such a port
 * could become a connection's before the program that is to listen there has started.
 */
const PORTS = { from: 15_000, to: 32_768 };
const PORTS_TRIED_MAX = 1_000;

/**
 * A free loopback port; the preferred one if it is free.
 * @param {number | undefined} [preferred]
 * @returns {Promise<number>}
 */
export async function freePort(preferred) {
  if (preferred !== undefined && (await isPortFree(preferred))) return preferred;
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port was found from ${PORTS.from} to ${PORTS.to - 1}.`);
}

/**
 * A temporary folder that is removed when this process ends, however it ends.
 * @param {string} prefix
 * @returns {{ path: string, remove: () => void }}
 */
export function temporaryFolder(prefix) {
  const path = mkdtempSync(join(tmpdir(), prefix));
  const janitor = spawn("sh", ["-c", JANITOR, "sh", path], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  janitor.unref();
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/**
 * Returns the end of a log, for a message about why its process ended.
 * @param {string} file
 * @param {number} [lines]
 */
export function lastWords(file, lines = 15) {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}

/** @param {number} ms */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
