// Sends requests one after the other with the HTTP client, in a process of its own. Prints a line
// of JSON for each outcome. The process ends by itself, when nothing keeps it running.

import { newClient, upstreamInit } from "../fakes/byte-server.ts";

/** A request of the program. */
export interface ProgramRequest {
  readonly url: string;
  readonly serverName?: string;
  /** The length of the body of a POST; without it, a GET is sent. */
  readonly bodyLength?: number;
}

/** The outcome of a request. */
export type ProgramOutcome =
  | { readonly status: number; readonly text: string }
  | { readonly code: string };

async function outcomeOf(client: ReturnType<typeof newClient>, request: ProgramRequest) {
  const { url, serverName, bodyLength } = request;
  const init = upstreamInit({
    ...(bodyLength === undefined ? {} : { method: "POST", body: "ü".repeat(bodyLength / 2) }),
    ...(serverName === undefined ? {} : { tls: { servername: serverName } }),
  });
  try {
    const response = await client.fetch(url, init);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { code: error instanceof Error && "code" in error ? error.code : String(error) };
  }
}

/** Runs the program, and waits until it has ended by itself. */
export async function runHttpProgram(
  requests: readonly ProgramRequest[],
  env: Readonly<Record<string, string>> = {},
): Promise<ProgramOutcome[]> {
  const program = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(requests)], {
    env: { PATH: process.env.PATH, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await program.stdout.text();
  if ((await program.exited) !== 0) throw new Error(`The program failed: ${output}`);
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function main(): Promise<void> {
  const client = newClient();
  for (const request of JSON.parse(process.argv[2] ?? "[]") as ProgramRequest[]) {
    console.log(JSON.stringify(await outcomeOf(client, request)));
  }
}

// Not awaited, because waiting would keep the process running.
if (import.meta.main) void main();
