// Reads the CPU time and memory of a process from the operating system.

import { readFileSync } from "node:fs";

const LINUX = process.platform === "linux";
const TICKS_A_SECOND = LINUX ? Number(output(["getconf", "CLK_TCK"])) || 100 : 100;

/** Seconds of CPU time of all threads of a process so far, in user and system mode. */
export function cpuSeconds(pid: number): number {
  if (!LINUX) return parsePsTime(output(["ps", "-o", "time=", "-p", String(pid)]));
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name can contain spaces and brackets, but the fields after the last ")" cannot.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
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
