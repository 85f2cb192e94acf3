// Tests that the calls of a key are found by its tags: in the log, in usage and in their CSV.

import { expect, test } from "bun:test";
import type { CreatedKeyReply } from "../../../src/console/keys.ts";
import type { RequestsReply } from "../../../src/readings/requests.ts";
import type { UsageReply } from "../../../src/readings/usage.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { accountPath, ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const world = await shared(ConsoleWorld.start());
const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;

function rangeNow(): string {
  const now = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS;
  const [from, to] = [new Date(now - HOUR_MS), new Date(now + HOUR_MS)];
  return `from=${from.toISOString()}&to=${to.toISOString()}`;
}

async function csv(account: TestAccount, rest: string): Promise<string[]> {
  const url = `${world.api.parts.url}/console/api${accountPath(account, rest)}`;
  const response = await fetch(url, { headers: { cookie: "session=viewer" } });
  return (await response.text()).trimEnd().split("\r\n");
}

async function setTags(account: TestAccount, key: string, tags: readonly string[]) {
  return await world.post("admin", accountPath(account, `keys/${key}/limits`), { tags });
}

test("log, usage and CSV find the calls of the keys that have a tag", async () => {
  const account = await world.account({ paid: "5" });
  const scopes = { scopes: ["models"] };
  const path = accountPath(account, "keys");
  const { body: made } = await world.post<CreatedKeyReply>("admin", path, {
    name: "tagged",
    ...scopes,
    tags: [" web ", "team blue", "web"],
  });
  expect(made.created.tags).toEqual(["web", "team blue"]);
  const { body: third } = await world.post<CreatedKeyReply>("admin", path, {
    name: "plain",
    ...scopes,
  });
  const calls = { [account.key]: 1, [made.key]: 2, [third.key]: 3 };
  for (const [key, count] of Object.entries(calls)) {
    for (let call = 0; call < count; call += 1) await world.api.post({ key }, chatBody());
  }
  await world.api.parts.stores.flush();
  const log = async (filter: string) => {
    const reply = await world.get<RequestsReply>(
      "viewer",
      accountPath(account, `requests?${filter}`),
    );
    return reply.body.requests.map(({ key }) => [key.name, key.tags]);
  };
  const usage = async (filter: string, step = "1h") => {
    const query = `${rangeNow()}&group=key&step=${step}&${filter}`;
    const { body } = await world.get<UsageReply>("viewer", accountPath(account, `usage?${query}`));
    return { calls: body.total.calls, tags: body.choices.tags };
  };
  expect(await log("tag=web")).toEqual(Array(2).fill(["tagged", ["web", "team blue"]]));
  expect(await log("")).toHaveLength(6);
  expect(await log("tag=unknown")).toEqual([]);
  expect(await log(`tag=web&key=${third.created.id}`)).toEqual([]);
  for (const step of ["1h", "1d"]) {
    expect(await usage("tag=team%20blue", step)).toEqual({ calls: 2, tags: ["team blue", "web"] });
    expect(await usage("tag=unknown", step)).toMatchObject({ calls: 0 });
  }
  // A tag finds the calls of before it was given, too.
  expect(await setTags(account, third.created.id, ["web"])).toMatchObject({ status: 200 });
  expect(await log("tag=web")).toHaveLength(5);
  expect(await usage("tag=web")).toMatchObject({ calls: 5 });
  const [head = "", ...lines] = await csv(account, "requests.csv?tag=team%20blue");
  expect(head).toEndWith(',"key_tags","run","step","asked_model","end_user"');
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toEndWith(',"web,team blue",,,,');
  const sums = await csv(account, `usage.csv?${rangeNow()}&group=key&step=1h&tag=team%20blue`);
  expect(sums).toHaveLength(2);
  await setTags(account, third.created.id, []);
  expect(await log("tag=web")).toHaveLength(2);
});

test("usage is grouped by the tags of keys, and the groups add up to the total", async () => {
  const account = await world.account({ paid: "5" });
  const path = accountPath(account, "keys");
  const calls: [key: string, count: number][] = [[account.key, 1]];
  for (const [tags, count] of [
    [["web", "prod"], 2],
    [["prod", "web"], 3],
    [["web"], 4],
  ] as const) {
    const { body } = await world.post<CreatedKeyReply>("admin", path, {
      name: "tagged",
      scopes: ["models"],
      tags,
    });
    calls.push([body.key, count]);
  }
  for (const [key, count] of calls) {
    for (let call = 0; call < count; call += 1) await world.api.post({ key }, chatBody());
  }
  await world.api.parts.stores.flush();
  const usage = async (query: string) => {
    const all = `${rangeNow()}&group=tag&${query}`;
    const { body } = await world.get<UsageReply>("viewer", accountPath(account, `usage?${all}`));
    return {
      total: body.total.calls,
      groups: body.groups.map(({ id, label, total }) => [id, label, total.calls]),
    };
  };
  for (const step of ["15m", "1d"]) {
    expect(await usage(`step=${step}`)).toEqual({
      total: 10,
      groups: [
        ["prod,web", "prod, web", 5],
        ["web", "web", 4],
        ["none", "No tag", 1],
      ],
    });
  }
  // The name of a group is a filter that finds its calls.
  expect((await usage("step=1h&tag=prod%2Cweb")).groups).toEqual([["prod,web", "prod, web", 5]]);
  expect((await usage("step=1h&tag=none")).groups).toEqual([["none", "No tag", 1]]);
  expect(await usage("step=1h&tag=web")).toMatchObject({ total: 9 });
  expect(await usage("step=1h&tag=web%2Cunknown")).toEqual({ total: 0, groups: [] });
  const [, ...lines] = await csv(account, `usage.csv?${rangeNow()}&group=tag&step=1d`);
  expect(lines.map((line) => line.split('","').slice(1, 2))).toEqual([
    ["prod,web"],
    ["web"],
    ["none"],
  ]);
});

test.each([
  [["a,b"], "no comma"],
  [["\u0001"], "tags must have 1 to 32 characters each"],
  [["x".repeat(33)], "tags must have 1 to 32 characters each"],
  [["  "], "tags must have 1 to 32 characters each"],
  [Array.from({ length: 9 }, (_, index) => `t${index}`), "tags must have at most 8 items"],
  ["web", "tags must"],
])("tags %j are refused by name", async (tags, message) => {
  const account = await world.account();
  const told = await world.post("admin", accountPath(account, `keys/${account.keyId}/limits`), {
    tags,
  });
  expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
  expect(told.message).toContain(message);
});
