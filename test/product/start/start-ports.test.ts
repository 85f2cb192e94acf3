import { expect, test } from "bun:test";
import { choosePort, chooseSandboxPort, releasePorts } from "../../../scripts/local/ports.mjs";
import { isPortFree } from "../../../scripts/local/processes.mjs";
import { launcherHome, launchFarebox } from "../../support/product/launcher.ts";

test("npm start ends in words when a named metrics port is taken", async () => {
  using home = launcherHome();
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("other") });
  const taken = other.port ?? 0;
  // The worker's port is the one after the API's.
  for (const named of [taken, taken - 1]) {
    await using farebox = launchFarebox(home.path, { env: { METRICS_PORT: String(named) } });
    expect(await farebox.exited).toBe(1);
    expect(farebox.output()).toContain("METRICS_PORT");
    expect(farebox.output()).toMatch(/Port \d+ is not free/);
  }
});

test("two starts at the same time choose different ports", async () => {
  const choose = async () => {
    const port = await choosePort(() => {});
    return [port, await chooseSandboxPort(port)];
  };
  const ports = [...(await choose()), ...(await choose())];
  try {
    expect(new Set(ports).size).toBe(4);
  } finally {
    await releasePorts();
  }
  expect(await Promise.all(ports.map((port) => isPortFree(port)))).not.toContain(false);
});
