import { expect, test } from "bun:test";
import { isPauseTarget, Pauses } from "../../../../src/store/operators/pauses.ts";
import { openDatabase } from "../../../../src/store/servers/database.ts";
import { migrate } from "../../../../src/store/servers/migrate.ts";
import { eventually } from "../../../support/eventually.ts";
import { shared } from "../../../support/shared.ts";
import { startPrivatePostgres } from "../../../support/stores/services.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());

const log = { warn: () => {} };

test("a pause and a resume reach every process at once, even one that starts later", async () => {
  const one = new Pauses({ database, log });
  await one.start();
  expect(one.isPaused("chat")).toBe(false);
  const operator = new Pauses({ database, log });
  expect(await operator.pause("chat")).toBe(true);
  expect(await operator.pause("chat")).toBe(false);
  await eventually("the pause is known", () => one.isPaused("chat"));
  expect(one.isPaused("search")).toBe(false);
  const late = new Pauses({ database, log });
  await late.start();
  expect(late.isPaused("chat")).toBe(true);
  expect(await operator.resume("chat")).toBe(true);
  expect(await operator.resume("chat")).toBe(false);
  const isOver = () => !one.isPaused("chat") && !late.isPaused("chat");
  await eventually("the resumption is known", isOver);
  await Promise.all([one.stop(), late.stop()]);
});

test("a process that stopped listening no longer follows", async () => {
  const one = new Pauses({ database, log });
  const other = new Pauses({ database, log });
  await one.start();
  await other.start();
  await one.stop();
  await new Pauses({ database, log }).pause("maps");
  await eventually("another one has followed", () => other.isPaused("maps"));
  expect(one.isPaused("maps")).toBe(false);
  await other.stop();
  await new Pauses({ database, log }).resume("maps");
});

test("a change that was not announced is found by reading again", async () => {
  const one = new Pauses({ database, log, reloadMs: 20 });
  await one.start();
  await database.sql`ALTER TABLE pauses DISABLE TRIGGER pauses_changed`;
  await database.sql`INSERT INTO pauses (target) VALUES ('mail')`;
  await eventually("the pause is known", () => one.isPaused("mail"));
  await database.sql`ALTER TABLE pauses ENABLE TRIGGER pauses_changed`;
  await database.sql`DELETE FROM pauses`;
  await eventually("the resumption is known", () => !one.isPaused("mail"));
  await one.stop();
});

test("without Postgres the last set stays in force; later changes arrive again", async () => {
  await using server = await startPrivatePostgres();
  await migrate(server.url);
  const away = openDatabase(server.url);
  // Only announcements count here: the next regular reading is an hour away.
  const one = new Pauses({ database: away, log, reloadMs: 3_600_000 });
  await one.start();
  await one.pause("model:a");
  await server.kill9();
  await expect(one.pause("chat")).rejects.toThrow();
  expect(one.isPaused("model:a")).toBe(true);
  await server.start();
  const operator = openDatabase(server.url);
  const other = new Pauses({ database: operator, log });
  await other.pause("search");
  await eventually("the pause is known", () => one.isPaused("search"));
  // A change after the reconnection is announced on the new connection.
  await other.pause("mail");
  await eventually("the next pause is known", () => one.isPaused("mail"));
  await one.stop();
  await Promise.all([away.close(), operator.close()]);
});

test("only services and models can be paused", async () => {
  for (const target of ["chat", "search", "maps", "mail", "model:gpt-5", "model:a/b:c"]) {
    expect(isPauseTarget(target)).toBe(true);
  }
  for (const target of ["", "models", "model:", "model:a b", "Chat", "chat ", "model:\n"]) {
    expect(isPauseTarget(target)).toBe(false);
    expect(new Pauses({ database, log }).pause(target)).rejects.toThrow(RangeError);
  }
});
