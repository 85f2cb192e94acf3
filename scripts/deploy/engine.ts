// Podman with a storage, networks and settings of its own, all in one temporary folder. Every
// container that it runs has ended when it is closed.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../local/processes.mjs";
import { must, type ProgramResult, type RunOptions, run } from "./tools.ts";

/** Limits that a machine allows which gives its processes no more than it has itself. */
export const LIMITS = { nofile: 1_024, nproc: 1_024 } as const;

export interface Engine extends AsyncDisposable {
  /** A folder for files of the check, removed in the end. */
  readonly folder: string;
  /** The settings by which any program runs this Podman. */
  readonly env: Readonly<Record<string, string>>;
  /** The driver that keeps images: `overlay`, or `vfs` where overlays cannot be mounted. */
  readonly storage: "overlay" | "vfs";
  /** The words with which this machine refuses to mount an overlay; null where it mounts them. */
  readonly overlayRefusal: string | null;
  podman(...args: readonly string[]): Promise<ProgramResult>;
  /** As `podman`, with its standard output; throws with its words if it fails. */
  must(...args: readonly string[]): Promise<string>;
}

export async function openEngine(): Promise<Engine> {
  const place = temporaryFolder("farebox-deploy-");
  const at = (...path: string[]) => join(place.path, ...path);
  const overlayRefusal = await refusalOfOverlay(at("probe"));
  const storage = overlayRefusal === null ? "overlay" : "vfs";
  for (const name of ["networks", "tmp", "files"]) mkdirSync(at(name));
  writeFileSync(at("storage.conf"), storageConf(storage, at));
  writeFileSync(at("containers.conf"), containersConf(at));
  writeFileSync(at("registries.conf"), "unqualified-search-registries = []\n");
  const env = {
    CONTAINERS_CONF: at("containers.conf"),
    CONTAINERS_STORAGE_CONF: at("storage.conf"),
    CONTAINERS_REGISTRIES_CONF: at("registries.conf"),
  };
  const options: RunOptions = { env };
  const close = async () => {
    await run(["podman", "pod", "rm", "--all", "--force", "--time", "0"], options);
    // A container that others need is removed after them, in the next round.
    for (let round = 0; round < 3; round += 1) {
      await run(["podman", "rm", "--all", "--force", "--time", "0"], options);
    }
    await run(["podman", "network", "prune", "--force"], options);
    await run(["podman", "system", "reset", "--force"], options);
    // Podman mounts this folder over itself, and leaves it so.
    await run(["umount", "--lazy", at("storage", "overlay")]);
    place.remove();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => close().finally(() => process.exit(1)));
  }
  return {
    folder: at("files"),
    env,
    storage,
    overlayRefusal,
    podman: (...args) => run(["podman", ...args], options),
    must: (...args) => must(["podman", ...args], options),
    [Symbol.asyncDispose]: close,
  };
}

/** Null if the kernel joins folders; otherwise each container has a copy of its whole image. */
async function refusalOfOverlay(probe: string): Promise<string | null> {
  for (const name of ["lower", "upper", "work", "merged"]) {
    mkdirSync(join(probe, name), { recursive: true });
  }
  const layers = ["lower", "upper", "work"].map((name) => `${name}dir=${join(probe, name)}`);
  const merged = join(probe, "merged");
  const mount = ["mount", "-t", "overlay", "overlay", "-o", layers.join(","), merged];
  const mounted = await run(mount);
  if (mounted.exitCode !== 0) return mounted.stderr;
  await must(["umount", merged]);
  return null;
}

type At = (...path: string[]) => string;

function storageConf(driver: string, at: At): string {
  return `[storage]
driver = "${driver}"
graphroot = "${at("storage")}"
runroot = "${at("run")}"
`;
}

function containersConf(at: At): string {
  const limits = Object.entries(LIMITS).map(([name, value]) => `"${name}=${value}:${value}"`);
  return `[containers]
default_ulimits = [${limits.join(", ")}]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${at("tmp")}"
image_copy_tmp_dir = "${at("tmp")}"
[network]
network_config_dir = "${at("networks")}"
`;
}
