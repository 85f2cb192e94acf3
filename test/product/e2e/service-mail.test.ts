// Tests workers killed while they send mails of the service: each mail arrives, always with the
// same bytes.

import { expect, test } from "bun:test";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { serviceMail } from "../../../src/core/service-mail.ts";
import { addServiceMail } from "../../../src/store/mail/outbox.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type Act,
  type DataAct,
  type Script,
  ScriptedSmtp,
} from "../../support/fakes/scripted-smtp.ts";
import { startProduct } from "../../support/product/product.ts";

const STAGES = ["connect", "from", "to", "begin", "data", "accepted"] as const;

test("a mail of the service survives a worker that is killed at any stage", async () => {
  await using smtp = await ScriptedSmtp.start();
  await using product = await startProduct({
    apis: 0,
    workers: 1,
    env: { MAIL_SMTP_URL: `${smtp.url}?tls=none`, MAIL_DOMAIN: "mail.test" },
  });
  const { database } = product.operator;
  const [worker] = product.workers;
  if (worker === undefined) throw new Error("The product has no worker");
  for (const stage of STAGES) {
    const dead = Promise.withResolvers<void>();
    smtp.dropAll();
    smtp.script = scriptOf(stage, () => {
      smtp.script = {};
      worker.kill9().then(dead.resolve, dead.reject);
      return dead.promise;
    });
    const mail = serviceMail({ brand: DEFAULT_BRAND, subject: stage, paragraphs: ["A line."] });
    await database.db.transaction((tx) =>
      addServiceMail(
        tx,
        { write: () => mail, kind: "receipt", to: "ada@example.test", account: null },
        new Date(),
      ),
    );
    await dead.promise;
    await database.sql`UPDATE outbox SET claimed_until = now() - interval '1 second'`;
    await worker.start();
    await eventually("the mail is sent", async () => {
      const [row] = await database.sql`SELECT count(*)::int AS waiting FROM outbox
        WHERE status <> 'sent' OR text IS NOT NULL`;
      return row?.waiting === 0;
    });
    const copies = smtp.accepted.splice(0).map(({ raw }) => raw.toString());
    expect(copies).toHaveLength(stage === "accepted" ? 2 : 1);
    expect(new Set(copies).size).toBe(1);
    expect(copies[0]).toContain(`Subject: ${stage}`);
  }
});

/**
 * Kills at a stage of the conversation; `accepted`: the server has the mail, the worker no answer.
 */
function scriptOf(stage: (typeof STAGES)[number], kill: () => Promise<void>): Script {
  const hang = (): Act => {
    void kill();
    return "hang";
  };
  switch (stage) {
    case "begin":
      return {
        begin: () => {
          void kill();
          return "hang";
        },
      };
    case "accepted":
      return {
        data: async (): Promise<DataAct> => {
          await kill();
          return "lost";
        },
      };
    default:
      return { [stage]: hang };
  }
}
