// Builds the tree of a release N+1: its wallets have one more field, in a layout of its own. Made
// from the present tree by replacing text, so that two builds can run beside each other.

import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";

const PROJECT = join(import.meta.dir, "../../..");

type Replacement = readonly [before: string, after: string];

/** The changes of N+1; the rest of the mechanism is the same in all releases. */
const CHANGES: Readonly<Record<string, readonly Replacement[]>> = {
  "actors/records/layouts.ts": [["LAYOUT_MAX = 2", "LAYOUT_MAX = 3"]],
  "actors/lua/shared/records.lua": [
    ["local LAYOUT_MIN, LAYOUT_MAX = 2, 2", "local LAYOUT_MIN, LAYOUT_MAX = 2, 3"],
    [
      "  w.ends = #bytes > WALLET_BYTES and string_sub(bytes, WALLET_BYTES + 1) or ''\n",
      "  w.writes = layout >= 3 and unpack_record('<d', bytes, 161) or 0\n" +
        "  w.ends = string_sub(bytes, WALLET_BYTES + (layout >= 3 and 9 or 1))\n",
    ],
    [
      "w.spent, w.held, w.previous_spent, w.previous_held, w.used) .. w.ends\n",
      "w.spent, w.held, w.previous_spent, w.previous_held, w.used)\n" +
        "    .. (in_force >= 3 and pack('<d', (w.writes or 0) + 1) or '') .. w.ends\n",
    ],
  ],
  "actors/records/records.ts": [
    [
      "freeEndsAt(bytes, WALLET_FIELDS * BYTES)",
      "freeEndsAt(bytes, (WALLET_FIELDS + (bytes.readDoubleLE(0) >= 3 ? 1 : 0)) * BYTES)",
    ],
  ],
};

export interface NextBuild extends Disposable {
  /** The folder with its files. */
  readonly folder: string;
  readonly actors: typeof import("../../../actors/account-actors.ts");
  readonly layouts: typeof import("../../../actors/layout-upgrade.ts");
  readonly ledger: typeof import("../../../src/store/ledger/ledger.ts");
  readonly flush: typeof import("../../../workers/log-flush.ts");
  readonly sweep: typeof import("../../../workers/sweep.ts");
  readonly audit: typeof import("../../../src/accounts/audit.ts");
}

export async function openNextBuild(): Promise<NextBuild> {
  const folder = temporaryFolder("farebox-test-next-");
  for (const part of ["actors", "src", "workers", "migrations", "scripts", "package.json"]) {
    cpSync(join(PROJECT, part), join(folder.path, part), { recursive: true });
  }
  symlinkSync(join(PROJECT, "node_modules"), join(folder.path, "node_modules"));
  for (const [path, replacements] of Object.entries(CHANGES)) {
    let text = readFileSync(join(folder.path, path), "utf8");
    for (const [before, after] of replacements) {
      if (text.split(before).length !== 2) throw new Error(`${path} has not one '${before}'`);
      text = text.replace(before, () => after);
    }
    writeFileSync(join(folder.path, path), text);
  }
  const load = (path: string) => import(join(folder.path, path));
  return {
    folder: folder.path,
    actors: await load("actors/account-actors.ts"),
    layouts: await load("actors/layout-upgrade.ts"),
    ledger: await load("src/store/ledger/ledger.ts"),
    flush: await load("workers/log-flush.ts"),
    sweep: await load("workers/sweep.ts"),
    audit: await load("src/accounts/audit.ts"),
    [Symbol.dispose]: () => folder.remove(),
  };
}
