// Tests the separation in deploy/: which services reach the stores, which need a password, and
// which versions are pinned.

import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import ipaddr from "ipaddr.js";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { redisCommand, startRedis } from "../../../scripts/local/redis.mjs";
import { ensureRedis } from "../../../scripts/local/redis-programs.mjs";
import { eventually } from "../../support/eventually.ts";
import { launcherHome } from "../../support/product/launcher.ts";

interface Service {
  readonly image: string;
  readonly networks:
    | readonly string[]
    | Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<
    Record<
      string,
      {
        readonly internal?: boolean;
        readonly ipam?: {
          readonly config: readonly { readonly subnet: string; readonly ip_range: string }[];
        };
      }
    >
  >;
}

const TEXT = read("deploy/compose.yaml");
const { services, networks } = Bun.YAML.parse(TEXT) as Compose;
const OWN_IMAGE = "farebox";
const STORES = ["redis", "postgres"];

/** The networks of each service. A new service needs its row. */
const NETWORKS = {
  migrate: ["stores", "upstreams"],
  "api-1": ["edge", "stores", "upstreams", "metrics"],
  "api-2": ["edge", "stores", "upstreams", "metrics"],
  worker: ["stores", "upstreams", "metrics"],
  proxy: ["edge"],
  redis: ["stores"],
  postgres: ["stores"],
  searxng: ["upstreams"],
  nominatim: ["upstreams"],
  ollama: ["upstreams"],
  mailpit: ["upstreams"],
  prometheus: ["metrics"],
  grafana: ["metrics"],
} as const;

function read(path: string): string {
  return readFileSync(join(PROJECT, path), "utf8");
}

function networksOf({ networks: named }: Service): string[] {
  return Array.isArray(named) ? [...named] : Object.keys(named);
}

describe("the networks of the compose file", () => {
  test("every service is in the networks that it needs, and in no other", () => {
    const found = Object.entries(services).map(([name, service]) => [name, networksOf(service)]);
    expect(Object.fromEntries(found)).toEqual(NETWORKS);
  });

  test("only Farebox is beside the stores, which have no way out and publish no port", () => {
    expect(networks.stores).toEqual({ internal: true });
    for (const [name, service] of Object.entries(services)) {
      const isBeside = networksOf(service).includes("stores");
      expect([name, isBeside]).toEqual([
        name,
        service.image === OWN_IMAGE || STORES.includes(name),
      ]);
    }
    for (const name of STORES) expect([name, services[name]?.ports]).toEqual([name, undefined]);
  });

  test("only the proxy is reached from other machines", () => {
    for (const [name, { ports = [] }] of Object.entries(services)) {
      const isOpen = ports.some((port) => !port.startsWith("127.0.0.1:"));
      expect([name, isOpen]).toEqual([name, name === "proxy"]);
    }
  });

  test("the one trusted proxy has an address that no other container gets", () => {
    const { TRUSTED_PROXIES } = services["api-1"]?.environment ?? {};
    const edge = services.proxy?.networks as Record<string, { readonly ipv4_address: string }>;
    expect(TRUSTED_PROXIES).toBe(edge.edge?.ipv4_address);
    const address = ipaddr.parse(TRUSTED_PROXIES ?? "");
    const [config] = networks.edge?.ipam?.config ?? [];
    expect(address.match(ipaddr.parseCIDR(config?.subnet ?? ""))).toBe(true);
    expect(address.match(ipaddr.parseCIDR(config?.ip_range ?? ""))).toBe(false);
  });
});

describe("the passwords of the compose file", () => {
  const secrets = [...TEXT.matchAll(/\$\{(\w*(?:PASSWORD|SECRET)\w*)(:\?)?/g)];
  const names = [...new Set(secrets.map(([, name = ""]) => name))].sort();

  test("are required, and have no default", () => {
    expect(names).toEqual(["POSTGRES_PASSWORD", "REDIS_PASSWORD", "SEARXNG_SECRET"]);
    expect(secrets.filter(([, , isNeeded]) => isNeeded === undefined)).toEqual([]);
    for (const [name, { image, environment }] of Object.entries(services)) {
      if (image !== OWN_IMAGE) continue;
      const urls = [environment?.REDIS_URL, environment?.DATABASE_URL];
      for (const url of urls)
        expect([name, url]).toEqual([name, expect.stringMatching(/:\$\{.*\}@/)]);
    }
  });

  test("are made once, all different, in files of their owner", () => {
    using folder = launcherHome();
    for (const name of ["make-secrets", "farebox.env.example"]) {
      copyFileSync(join(PROJECT, "deploy", name), join(folder.path, name));
    }
    const run = () => Bun.spawnSync(["sh", join(folder.path, "make-secrets")]);
    const files = [".env", "farebox.env"].map((name) => join(folder.path, name));
    writeFileSync(join(folder.path, ".env"), "SITE=farebox.example\nREDIS_PASSWORD=of-its-own\n");
    chmodSync(join(folder.path, ".env"), 0o644);
    expect(run().exitCode).toBe(0);
    const made = files.map((file) => readFileSync(file, "utf8"));
    const values = [...made.join("\n").matchAll(/^(\w+)=([0-9a-f]{64})$/gm)];
    const wanted = [...names.filter((name) => name !== "REDIS_PASSWORD"), "KEY_PEPPER"];
    expect(values.map(([, name]) => name).sort()).toEqual([...wanted, "IP_HASH_SECRET"].sort());
    expect(new Set(values.map(([, , value]) => value)).size).toBe(values.length);
    expect(made[0]).toStartWith("SITE=farebox.example\nREDIS_PASSWORD=of-its-own\n");
    for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(run().exitCode).toBe(0);
    expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(made);
  });
});

describe("the API processes of the compose file", () => {
  const names = Object.keys(services).filter((name) => name.startsWith("api-"));

  test("are each known to the proxy, to the metrics and to the update", () => {
    expect(names.length).toBeGreaterThan(1);
    const upstreams = names.map((name) => `${name}:8080`).join(" ");
    expect(read("deploy/Caddyfile")).toContain(`reverse_proxy ${upstreams} {`);
    expect(read("deploy/prometheus/prometheus.yml")).toContain(`names: [${names.join(", ")}]`);
    expect(read("deploy/update")).toContain(`for api in ${names.join(" ")}; do`);
  });

  test("are not taken out of the proxy by calls that fail", () => {
    expect(read("deploy/Caddyfile")).not.toMatch(/^\s*(fail_duration|max_fails|unhealthy_)/m);
  });

  const update = (does: { readonly run: boolean; readonly getReady: boolean }) => {
    using folder = launcherHome();
    const at = (name: string) => join(folder.path, name);
    copyFileSync(join(PROJECT, "deploy/update"), at("update"));
    const fails = does.getReady ? "" : '[ "$1 $4" != "exec bun" ] || exit 1';
    const answer = does.run ? fails : '[ "$1" != exec ] || exit 1';
    writeFileSync(at("compose"), `#!/bin/sh\necho "$@" | head -1 >> ${at("log")}\n${answer}\n`);
    writeFileSync(at("sleep"), "#!/bin/sh\n");
    for (const name of ["compose", "sleep"]) chmodSync(at(name), 0o755);
    const env = { PATH: [folder.path, process.env.PATH].join(delimiter), COMPOSE: at("compose") };
    const { exitCode, stderr } = Bun.spawnSync(["sh", at("update")], { env });
    const commands = readFileSync(at("log"), "utf8").trim().split("\n");
    const done = commands.map((line) => line.replace(/^(exec -T \S+).*/, "$1"));
    return { exitCode, said: stderr.toString(), done };
  };
  const replace = (name: string) => `up --detach --no-deps --force-recreate ${name}`;

  test("are updated one after the other, each when the one before is ready", () => {
    const { exitCode, done } = update({ run: true, getReady: true });
    expect(exitCode).toBe(0);
    expect(done).toEqual([
      "exec -T api-1",
      "build migrate",
      "run --rm --no-deps migrate",
      ...names.flatMap((name) => [replace(name), `exec -T ${name}`]),
      replace("worker"),
    ]);
  });

  test("are not updated in an installation that has none of them", () => {
    const { exitCode, said, done } = update({ run: false, getReady: false });
    expect([exitCode, done]).toEqual([1, ["exec -T api-1"]]);
    expect(said).toContain("up --build --detach --remove-orphans");
  });

  test("are not replaced any further if the new one does not get ready", () => {
    const { exitCode, said, done } = update({ run: true, getReady: false });
    expect(exitCode).toBe(1);
    expect(said).toContain("api-1 does not get ready; nothing else was replaced");
    expect(done.filter((line) => line.startsWith("up "))).toEqual([replace("api-1")]);
  });
});

test("every foreign image has a version, with at least two numbers, or a digest", () => {
  const base = /^ARG BUN_IMAGE=(\S+)$/m.exec(read("deploy/Dockerfile"))?.[1] ?? "";
  const based = [...read("deploy/Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, name = ""]) =>
    name.replace(/^\$\{BUN_IMAGE\}$/, base),
  );
  const others = Object.values(services).map(({ image }) => image);
  const images = [...others.filter((image) => image !== OWN_IMAGE), ...based];
  expect(images.length).toBeGreaterThan(9);
  const loose = images.filter((image) => !/(:v?\d+\.\d+[\w.-]*|@sha256:[0-9a-f]{64})$/.test(image));
  expect(loose).toEqual([]);
});

describe("the Redis of the compose file", () => {
  test("asks for its password, keeps accepted writes, and repairs a cut file", async () => {
    using folder = launcherHome();
    const at = (...path: string[]) => join(folder.path, ...path);
    mkdirSync(at("logs"));
    mkdirSync(at("bin"));
    // The file that a loss of power leaves, of a Redis that ran before.
    const { port, stop } = await startRedis({ home: folder.path });
    await stop();
    const data = at("redis", "appendonlydir");
    const file = readdirSync(data).find((name) => name.endsWith(".incr.aof")) ?? "";
    const before = statSync(join(data, file)).size;
    appendFileSync(join(data, file), "*3\r\n$3\r\nSET\r\n$1\r\na");
    const { server, checkAof } = await ensureRedis(() => {});
    writeFileSync(at("bin/docker-entrypoint.sh"), `#!/bin/sh\nshift\nexec ${server} "$@"\n`);
    writeFileSync(at("bin/redis-check-aof"), `#!/bin/sh\nexec ${checkAof} "$@"\n`);
    for (const name of readdirSync(at("bin"))) chmodSync(at("bin", name), 0o755);
    const script = read("deploy/redis/start")
      .replaceAll("/data/", `${at("redis")}/`)
      .replace("\nappendonly yes", `\nport ${port}\ndir ${at("redis")}\nappendonly yes`);
    writeFileSync(at("start"), script);
    const redis = Bun.spawn(["sh", at("start")], {
      env: {
        PATH: [at("bin"), process.env.PATH].join(delimiter),
        REDIS_PASSWORD: "the password",
      },
      stdin: "ignore",
      stdout: "ignore",
    });
    try {
      const ask = (password: string, ...command: string[]) => redisCommand(port, password, command);
      await eventually("Redis is ready", async () => {
        return (await ask("the password", "PING").catch(() => "")).startsWith("+PONG");
      });
      expect(await ask("", "PING")).toStartWith("-NOAUTH");
      const kept = await ask("the password", "CONFIG", "GET", "append*sync");
      expect(kept).toContain("always");
      expect(statSync(join(data, file)).size).toBe(before);
    } finally {
      redis.kill();
      await redis.exited;
    }
  });
});

describe("the units of systemd", () => {
  const units = ["farebox-api@.service", "farebox-worker.service"];

  test("write files that only their user can read", () => {
    for (const unit of units) {
      const lines = read(join("deploy/systemd", unit)).split("\n");
      expect(lines).toContain("UMask=0077");
      expect(lines).toContain("StateDirectoryMode=0700");
    }
    expect(read("deploy/systemd/farebox").split("\n")).toContain("umask 077");
  });

  test("have a Redis repair its append-only file before it starts", () => {
    const text = read("deploy/systemd/redis-server.conf");
    const [, script = ""] = /^ExecStartPre=\/bin\/sh -c '(.*)'$/m.exec(text) ?? [];
    using folder = launcherHome();
    const manifest = join(folder.path, "appendonlydir/appendonly.aof.manifest");
    const run = () => {
      const moved = script.replaceAll("/var/lib/redis", folder.path);
      const env = { PATH: [folder.path, process.env.PATH].join(delimiter) };
      return Bun.spawnSync(["sh", "-c", moved], { env });
    };
    const tool = join(folder.path, "redis-check-aof");
    writeFileSync(tool, '#!/bin/sh\nread answer\necho "$answer $*"\n', { mode: 0o755 });
    expect([run().exitCode, run().stdout.toString()]).toEqual([0, ""]);
    mkdirSync(dirname(manifest));
    writeFileSync(manifest, "");
    expect(run().stdout.toString()).toBe(`y --fix ${manifest}\n`);
  });
});
