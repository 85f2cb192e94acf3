import { expect, test } from "bun:test";
import { join } from "node:path";
import { cliOf, jsonOf, startCli } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { SECRET_KEY, WEBHOOK_SECRET } from "../../support/stores/payment-lab.ts";
import { openAccountAlone, openWorld, usd } from "../../support/stores/world.ts";

const folders = sharedFolder("provider-away");
const world = await shared(openWorld());
const cli = await cliOf(world);

test("a restore that cannot reach the provider lists the losses, and can be ended", async () => {
  const { row } = await openAccountAlone(world);
  const folder = join(folders, "whole");
  expect((await cli("backup", folder)).code).toBe(0);
  const terms = { kind: "adjustment", amount: usd("3"), reason: "gift", reference: "T7" } as const;
  await world.store.adjust(row, terms);
  const away = await cliOf(world, {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: "http://127.0.0.1:1",
    STRIPE_RETURN_URL: "https://farebox.example/",
  });
  const { code, err } = await away("restore", folder, "--yes");
  expect(code).toBe(1);
  expect(err).toContain("Book these again by hand");
  expect(err).toContain("gift, T7");
  expect(err).toContain("run farebox restore --yes without a folder");
  expect(jsonOf(await cli("restore", "--yes", "--json"))).toMatchObject({ ok: true, problems: [] });
});

test("a restore that is ended while it calls the provider has listed the losses", async () => {
  const asked = Promise.withResolvers<void>();
  await using provider = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      asked.resolve();
      return Promise.withResolvers<Response>().promise;
    },
  });
  const { row } = await openAccountAlone(world);
  const folder = join(folders, "ended");
  expect((await cli("backup", folder)).code).toBe(0);
  const terms = { kind: "adjustment", amount: usd("3"), reason: "gift", reference: "T8" } as const;
  await world.store.adjust(row, terms);
  const env = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: provider.url.href,
    STRIPE_RETURN_URL: "https://farebox.example/",
  };
  const child = await startCli(world, ["restore", folder, "--yes"], { env });
  await asked.promise;
  child.kill("SIGKILL");
  const err = await new Response(child.stderr).text();
  expect(err).toContain("keep this");
  expect(err).toContain("gift, T8");
});
