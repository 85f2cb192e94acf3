// Tests a worker that goes on while another server of Postgres takes over, one without the last
// commits: numbers that the worker remembers may belong to other rows there.

import { expect, test } from "bun:test";
import { newId } from "../../../src/core/ids.ts";
import { usd } from "../../../src/core/money/money.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import type { JournalItem, PreparedEntry } from "../../../src/store/ledger/prepared-entry.ts";
import { migrate } from "../../../src/store/servers/migrate.ts";
import { eventually } from "../../support/eventually.ts";
import { random } from "../../support/random.ts";
import { type JournalLab, openJournalLab } from "../../support/stores/journal-lab.ts";
import { type PrivateStore, startPrivatePostgres } from "../../support/stores/services.ts";

const CENT = usd("0.01");

async function restart(postgres: PrivateStore, { database: { sql } }: JournalLab): Promise<void> {
  await postgres.kill9();
  await postgres.start();
  const answers = () =>
    sql`SELECT 1`.then(
      () => true,
      () => false,
    );
  await eventually("Postgres answers", answers);
}

test("no charge is booked on a key that got the number of a lost one", async () => {
  await using postgres = await startPrivatePostgres();
  await migrate(postgres.url);
  await using lab = await openJournalLab({ databaseUrl: postgres.url });
  const { sql } = lab.database;
  const [account, other] = [await lab.account(0), await lab.account(1)];
  await account.call(CENT);
  expect(await lab.flush()).toBe(3);
  const [key] = await sql`SELECT number FROM keys WHERE id = ${account.keyId}`;

  await restart(postgres, lab);
  // The key was made in commits that this server lacks, and another key got its number.
  await sql`DELETE FROM keys WHERE id = ${account.keyId}`;
  const id = newId("key", random);
  await sql`
    INSERT INTO keys (number, id, account, digest, name, scopes, ip_allowlist, last_four)
    OVERRIDING SYSTEM VALUE
    VALUES (${key?.number}, ${id}, ${other.number}, ${id}, 'test', '{models}', '{}', 'abcd')`;
  await account.call(CENT);
  await lab.flush();
  expect(await account.ledger()).toHaveLength(2);
  expect(await account.log()).toHaveLength(1);
  expect(await lab.rejected.openRejections()).toMatchObject([
    { account: account.id, seq: 3, reason: `There is no key '${account.keyId}'` },
  ]);
});

test("data that was prepared for one server is not written to another", async () => {
  await using postgres = await startPrivatePostgres();
  await migrate(postgres.url);
  await using lab = await openJournalLab({ databaseUrl: postgres.url });
  const account = await lab.account(0);
  await lab.flush();
  await account.call(CENT);
  class Restarting extends Ledger {
    override async prepare(items: readonly JournalItem[]): Promise<PreparedEntry[]> {
      const prepared = await super.prepare(items);
      if (items.length > 0) await restart(postgres, lab);
      return prepared;
    }
  }
  const flushing = lab.flush({ ledger: new Restarting(lab.database) });
  await expect(flushing).rejects.toMatchObject({ name: "AnotherServer" });
  expect(await account.ledger()).toHaveLength(1);
  expect(await lab.flush()).toBe(1);
});
