import { expect, test } from "bun:test";
import { launcherHome, launchFarebox } from "../support/launcher.ts";

test("npm start ends in words when a metrics port that was named is taken", async () => {
  using home = launcherHome();
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("other") });
  const taken = other.port ?? 0;
  // The worker's is the one after the API's.
  for (const named of [taken, taken - 1]) {
    await using farebox = launchFarebox(home.path, { env: { METRICS_PORT: String(named) } });
    expect(await farebox.exited).toBe(1);
    expect(farebox.output()).toContain("METRICS_PORT");
    expect(farebox.output()).toMatch(/Port \d+ is not free/);
  }
});
