// Reads the CPU time and memory of a process from the operating system.

import { readFileSync } from "node:fs";

const LINUX = process.platform === "linux";
const TICKS_A_SECOND = LINUX ? Number(output(["getconf", "CLK_TCK"])) || 100 : 100;

/** Seconds of CPU time of all threads of a process so far, in user and system mode. */
export function cpuSeconds(pid: number): number {
  if (!LINUX) return parsePsTime(output(["ps", "-o", "time=", "-p", String(pid)]));
  const [user = 0, system = 0] = cpuTicks(pid);
  return (user + system) / TICKS_A_SECOND;
}

/**
 * Seconds of CPU time of a process and of all processes that it has started, ended ones included;
 * NaN outside Linux.
 */
export function treeCpuSeconds(pid: number): number {
  if (!LINUX) return Number.NaN;
  const ticks = cpuTicks(pid).reduce((sum, one) => sum + one, 0);
  return childrenOf(pid).reduce(
    (sum, child) => sum + treeCpuSeconds(child),
    ticks / TICKS_A_SECOND,
  );
}

/** User and system time of a process, then of its children that have ended; none if it is gone. */
function cpuTicks(pid: number): number[] {
  const stat = readProcess(`${pid}/stat`);
  // The command name can contain spaces and brackets, but the fields after the last ")" cannot.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).map(Number);
}

function childrenOf(pid: number): number[] {
  return readProcess(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

function readProcess(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Milliseconds that the first thread of a process has run; NaN outside Linux. */
export function mainThreadMs(pid: number): number {
  if (!LINUX) return Number.NaN;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** Bytes of memory that a process has in RAM. */
export function residentBytes(pid: number): number {
  if (!LINUX) return Number(output(["ps", "-o", "rss=", "-p", String(pid)])) * 1024;
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}

/** `[[dd-]hh:]mm:ss[.cc]` in seconds. */
function parsePsTime(text: string): number {
  const [days, clock] = text.includes("-") ? text.split("-") : ["0", text];
  const seconds = (clock ?? "0").split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return Number(days) * 86_400 + seconds;
}

function output(command: string[]): string {
  return Bun.spawnSync(command).stdout.toString().trim();
}
