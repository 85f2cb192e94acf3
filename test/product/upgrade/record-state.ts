// Records the data that a release leaves in its stores, from its code in the history of git:
//
//   npm run record-state -- NAME [REF]
//
// NAME is the release, such as v0.1.0; REF is the commit whose code runs, by default the tag NAME.
// recorded-states.test.ts then upgrades from it (D-932).

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { must } from "../../../scripts/deploy/tools.ts";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { askChat, framesOf, postChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { SECRETS } from "../../support/product/product.ts";
import { testDataDirectory } from "../../support/stores/services.ts";
import { openEarlierRelease } from "./earlier-release.ts";
import { refuseRecorded, writeRecorded } from "./recorded.ts";
import { balanceOf, farebox, openAccount, openGround, ownData, startRelease } from "./releases.ts";
import { readStores } from "./store-state.ts";

const FLUSHED = 4;
const UNFLUSHED = 2;
/** Parts of the stream that arrive before its process is killed. */
const FRAMES = 5;

const [name = "", ref = name] = process.argv.slice(2);
if (!/^v\d+\.\d+\.\d+$/.test(name)) throw new Error("Name the release, such as v0.1.0");
refuseRecorded(name);
await using resources = new AsyncDisposableStack();
const FAREBOX_DATA = testDataDirectory();
const build = [process.execPath, join(PROJECT, "scripts/build-data.ts")];
await must(build, { cwd: PROJECT, env: { FAREBOX_DATA } });
const ground = await openGround(resources);
const { folder } = resources.use(openEarlierRelease(ref));
const release = { name: "recorded", folder, data: ownData(ground) };

await farebox(release, ground, ["migrate"]);
const account = await openAccount(release, ground);
const { left: credit } = await balanceOf(release, ground, account.id);
const { api, worker } = await startRelease(release, ground);
const calls: Record<string, string> = {};
const make = async (count: number) => {
  for (let made = 0; made < count; made += 1) {
    const { status, cost, requestId } = await askChat(api.url, account.key, { model: "ok" });
    if (status !== 200) throw new Error(`A call was answered with ${status}`);
    calls[requestId] = String(cost);
  }
};
await make(FLUSHED);
await eventually("the ledger has the calls", async () => {
  const { rows } = await readStores(ground.stores);
  return rows.ledger_entries?.match(/\tcharge\t/g)?.length === FLUSHED;
});
await worker.stop();
await make(UNFLUSHED);
const stream = await postChat(api.url, account.key, { model: "stream", stream: true });
const frames = framesOf(stream);
for (let seen = 0; seen < FRAMES; seen += 1) await frames.next();
await api.kill9();
mkdirSync(join(import.meta.dir, "states"), { recursive: true });
const file = writeRecorded(name, {
  ref,
  secrets: SECRETS,
  account,
  credit: String(credit),
  calls,
  unflushed: UNFLUSHED,
  open: stream.headers.get("x-request-id") ?? "",
  stores: await readStores(ground.stores),
});
console.log(`${file} has what ${ref} left.`);
