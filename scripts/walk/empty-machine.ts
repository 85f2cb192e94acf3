// A machine with nothing of Farebox, as far as a folder can be one: a fresh clone, an empty HOME,
// no services, and no variable but those by which programs find each other and the network.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { must, run } from "../deploy/tools.ts";
import { PROJECT } from "../local/home.mjs";
import { freePort, sleep, temporaryFolder } from "../local/processes.mjs";

/** The variables that describe the machine. Variables of Farebox are not among them. */
const KEPT = /^(?:PATH|LANG|TERM|TMPDIR|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|\w+_proxy)$/i;
const READY_MS_MAX = 600_000;
const LOOK_MS = 200;
const CONFIGURATION = "farebox.config.json";

type Running = ReturnType<typeof Bun.spawn>;

export class EmptyMachine implements AsyncDisposable {
  readonly #folder = temporaryFolder("farebox-walk-");
  #running: Running | null = null;

  private constructor(readonly port: number) {}

  static async open(): Promise<EmptyMachine> {
    const machine = new EmptyMachine(await freePort());
    mkdirSync(machine.#at("home"));
    return machine;
  }

  /** The address that `npm start` prints. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Clones the last commit of the project. */
  async clone(): Promise<void> {
    await must(["git", "clone", "--quiet", "--no-hardlinks", PROJECT, this.#at("farebox")]);
  }

  /** Runs `npm start`, which installs missing packages, until it serves. */
  async start(): Promise<void> {
    const child = Bun.spawn(["npm", "start"], { ...this.#options(), stdout: "ignore" });
    this.#running = child;
    for (const endMs = performance.now() + READY_MS_MAX; performance.now() < endMs; ) {
      const ready = await fetch(`${this.origin}/readyz`).catch(() => null);
      if (ready?.ok === true) return;
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
      await sleep(LOOK_MS);
    }
    throw new Error("npm start did not get ready");
  }

  /** Presses Ctrl-C, and waits until everything has ended. */
  async stop(): Promise<void> {
    const child = this.#running;
    this.#running = null;
    if (child === null || child.exitCode !== null) return;
    // Ctrl-C reaches all processes of the terminal. npm ends at once, and Farebox a little later.
    process.kill(-child.pid, "SIGINT");
    await child.exited;
    while (existsSync(this.#at("farebox/.farebox/lock.json"))) await sleep(LOOK_MS);
  }

  /** Runs a command of the tool as the pages write it. @throws {Error} with all that it said */
  async farebox(...args: readonly string[]): Promise<Record<string, unknown>> {
    const command = ["npm", "run", "-s", "farebox", "--", ...args, "--json"];
    const { exitCode, stdout, stderr } = await run(command, this.#options());
    if (exitCode !== 0) throw new Error(`farebox ${args.join(" ")}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** Writes a file that only its owner can read, into the folder of the clone. */
  write(name: string, content: string): string {
    writeFileSync(this.#at("farebox", name), content, { mode: 0o600 });
    return name;
  }

  /** Changes the configuration file, as an editor would. */
  configure(change: (configuration: Record<string, unknown>) => object): string {
    const path = this.#at("farebox", CONFIGURATION);
    const before = Bun.JSONC.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    return this.write(CONFIGURATION, `${JSON.stringify(change(before), null, 2)}\n`);
  }

  #at(...path: readonly string[]): string {
    return join(this.#folder.path, ...path);
  }

  #options() {
    const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
    // The sources of packages are a setting of each machine.
    const npmrc = process.env.npm_config_userconfig ?? join(homedir(), ".npmrc");
    const env: Record<string, string | undefined> = {
      ...Object.fromEntries(kept),
      HOME: this.#at("home"),
      PORT: String(this.port),
      ...(existsSync(npmrc) && { npm_config_userconfig: npmrc }),
    };
    return { cwd: this.#at("farebox"), env, detached: true } as const;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#folder.remove();
  }
}
