// Shares the parts of tests of `farebox setup`: a folder, a server of models that takes one key,
// and the tool as a process, on a terminal or without one.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_FILE, cliProcess, environmentOf } from "../../../support/product/run-cli.ts";
import type { World } from "../../../support/stores/world.ts";

const COLUMNS = 200;
/** The control codes of a terminal. */
const ESCAPES = new RegExp(`${String.fromCharCode(0x1b)}\\[[0-9;?]*[A-Za-z]`, "g");

export const KEY = "sk-right-0123456789";

export interface ModelServer extends Disposable {
  readonly baseUrl: string;
  /** The paths that were asked for with the right key. */
  readonly paths: string[];
}

/** A server that lists three models for one key. */
export function startModelServer(): ModelServer {
  const paths: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { headers, url } = request;
      const key = headers.get("x-api-key") ?? headers.get("authorization")?.slice("Bearer ".length);
      if (key !== KEY) return Response.json({ error: "no" }, { status: 401 });
      paths.push(new URL(url).pathname);
      return Response.json({ data: [{ id: "a" }, { id: "b" }, { id: "c" }] });
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    paths,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** A server that answers Stripe's list of events for one key. */
export function startStripe(secretKey: string): { readonly url: string } & Disposable {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ headers, url }) {
      if (headers.get("authorization") !== `Bearer ${secretKey}`) {
        const error = { type: "invalid_request_error", message: "Invalid API Key provided" };
        return Response.json({ error }, { status: 401 });
      }
      const list = { object: "list", data: [], has_more: false, url: "/v1/events" };
      return new URL(url).pathname === "/v1/events"
        ? Response.json(list)
        : Response.json({ error: { type: "invalid_request_error" } }, { status: 404 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** A folder in which the setup writes, and the environment of the tool in it. */
export class SetupLab {
  constructor(
    readonly folder: string,
    readonly world: World | null,
  ) {}

  path(name: string): string {
    return join(this.folder, name);
  }

  /** The configuration file. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
  configuration(): any {
    return Bun.JSONC.parse(this.text("farebox.config.json"));
  }

  text(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : "";
  }

  write(name: string, value: unknown): string {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    writeFileSync(this.path(name), text, { mode: 0o600 });
    return this.path(name);
  }

  mode(name: string): number {
    return statSync(this.path(name)).mode & 0o777;
  }

  async environment(more: Readonly<Record<string, string>> = {}) {
    const stores = this.world === null ? {} : await environmentOf(this.world);
    const origin = "http://127.0.0.1:8080";
    const base = { PATH: process.env.PATH ?? "", FAREBOX_HOME: this.folder, TERM: "xterm" };
    return { ...base, ...stores, CONSOLE_URL: origin, ...more };
  }

  /** Runs the setup without a terminal. */
  async script(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const env = await this.environment(more);
    return await cliProcess(["setup", ...args], { cwd: this.folder, env });
  }

  /**
   * Runs the setup on a terminal of its own, and types each answer once its prompt is shown. An
   * answer of null presses Ctrl-C.
   */
  async person(answers: readonly (readonly [prompt: string, answer: string | null])[]) {
    const left = [...answers];
    let output = "";
    let seen = 0;
    const child = Bun.spawn([process.execPath, CLI_FILE, "setup"], {
      cwd: this.folder,
      env: await this.environment(),
      terminal: {
        cols: COLUMNS,
        rows: 50,
        data(terminal, bytes) {
          output += new TextDecoder().decode(bytes).replaceAll(ESCAPES, "");
          const [next] = left;
          if (next === undefined) return;
          const at = output.indexOf(next[0], seen);
          if (at < 0 || !/\]: ?$/.test(output)) return;
          seen = output.length;
          left.shift();
          terminal.write(next[1] === null ? "\u0003" : `${next[1]}\r`);
        },
      },
    });
    const code = await child.exited;
    return { code, output: output.replaceAll("\r", ""), left };
  }
}
