// Looks at who reaches whom in a running deploy/compose.yaml, and with which rights (D-595).

import type { Installation } from "./compose-run.ts";
import { call } from "./load.ts";
import type { Report } from "./report.ts";

/** An address that is not the caller's, which only a trusted proxy may say it is. */
const ALLOWED_IP = "203.0.113.9";
/** An address of the internet, which a separated container does not reach. */
const OUTSIDE = "1.1.1.1";

export async function checkSeparation(
  at: Installation,
  report: Report,
  what: { readonly url: string; readonly accountId: string; readonly model: string },
): Promise<void> {
  const addresses = await addressesOf(at);
  const reaches = async (from: string, address: string, port: number) => {
    const script = `timeout 3 bash -c '</dev/tcp/${address}/${port}' 2>&1`;
    return (await at.shell(from, script)).isOk;
  };
  await report.step("compose: only Farebox reaches Redis and Postgres", async () => {
    const { redis = "", postgres = "" } = addresses;
    for (const [address, port] of [
      [redis, 6379],
      [postgres, 5432],
    ] as const) {
      for (const from of ["api-1", "worker"]) {
        if (!(await reaches(from, address, port))) throw new Error(`${from} reaches no ${address}`);
      }
      for (const from of ["proxy", "slow-model"]) {
        if (await reaches(from, address, port))
          throw new Error(`${from} reaches ${address}:${port}`);
      }
    }
    for (const from of ["redis", "postgres"]) {
      const { text } = await at.shell(from, "cat /proc/net/route");
      // The row of a route to everywhere has the destination 0.
      if (/^\S+\t0{8}\t/m.test(text)) throw new Error(`${from} has a way out:\n${text}`);
      if (await reaches(from, OUTSIDE, 443)) throw new Error(`${from} reaches ${OUTSIDE}`);
    }
  });
  await report.step("compose: Redis and Postgres ask for their passwords", async () => {
    const redis = await at.shell("redis", "REDISCLI_AUTH= redis-cli ping");
    if (!redis.text.includes("NOAUTH")) throw new Error(redis.text);
    const wrong = "PGPASSWORD=wrong psql -h 127.0.0.1 -U farebox farebox -c 'select 1'";
    const postgres = await at.shell("postgres", wrong);
    if (!postgres.text.includes("password authentication failed")) throw new Error(postgres.text);
    return `${redis.text.trim()}; ${postgres.text.trim().split("FATAL:").at(-1)?.trim()}`;
  });
  await report.step(
    "compose: Farebox has another user, no rights, and a file system to read",
    async () => {
      for (const service of ["api-1", "api-2", "worker"]) {
        const { text } = await at.shell(
          service,
          "id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status; touch /farebox/x 2>&1",
        );
        const isBound = /^1000\nCapEff:\t0{16}\nNoNewPrivs:\t1\n.*Read-only file system/.test(text);
        if (!isBound) throw new Error(`${service}: ${text}`);
      }
    },
  );
  await report.step(
    "compose: an address is believed of the proxy alone, which no caller can use",
    async () => {
      const args = ["--scopes", "models", "--ip", ALLOWED_IP];
      const key = String((await at.farebox("key", "create", what.accountId, ...args)).key);
      const { failure } = await call({ ...what, key }, false, { "x-forwarded-for": ALLOWED_IP });
      if (!isRefused(failure ?? "")) throw new Error(`through the proxy: ${failure}`);
      const direct = await askDirectly(at, addresses["api-1"] ?? "", { key, model: what.model });
      if (!isRefused(direct)) throw new Error(`past the proxy: ${direct}`);
    },
  );
}

/** True for the refusal of an address; other refusals have the status 403 too. */
function isRefused(answer: string): boolean {
  return answer.startsWith("403") && answer.includes("ip_not_allowed");
}

/** The addresses of services, in the network of the stores where they are in it. */
async function addressesOf(at: Installation): Promise<Readonly<Record<string, string>>> {
  const addresses: Record<string, string> = {};
  for (const service of ["redis", "postgres", "api-1"]) {
    const found = await at.engine.must("inspect", at.container(service));
    const [{ NetworkSettings }] = JSON.parse(found) as [
      { readonly NetworkSettings: { readonly Networks: Record<string, { IPAddress: string }> } },
    ];
    const networks = Object.entries(NetworkSettings.Networks);
    const wanted = networks.find(([name]) =>
      name.endsWith(service === "api-1" ? "_upstreams" : "_stores"),
    );
    addresses[service] = wanted?.[1].IPAddress ?? "";
  }
  return addresses;
}

/** Calls an API process from a container beside it, which is no proxy. */
async function askDirectly(
  at: Installation,
  address: string,
  { key, model }: { readonly key: string; readonly model: string },
): Promise<string> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  const headers = { authorization: `Bearer ${key}`, "x-forwarded-for": ALLOWED_IP };
  const init = JSON.stringify({ method: "POST", headers, body });
  const code =
    `const answer = await fetch("http://${address}:8080/v1/chat/completions", ${init}); ` +
    "console.log(answer.status, await answer.text())";
  const { stdout, stderr } = await at.engine.podman(
    "exec",
    at.container("slow-model"),
    "bun",
    "-e",
    code,
  );
  return stdout + stderr;
}
