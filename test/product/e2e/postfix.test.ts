// Tests a real Postfix: it passes the message on unchanged, and the signature still holds.

import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { simpleParser } from "mailparser";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { eventually } from "../../support/eventually.ts";
import { ensurePostfix, REFUSED, startPostfix } from "../../support/fakes/postfix.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { verifyDkim } from "../../support/fakes/verify-dkim.ts";
import { startProduct } from "../../support/product/product.ts";

test.skipIf(!ensurePostfix())(
  "a message passes a real Postfix unchanged, signed, and charged for accepted recipients",
  async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await using resources = new AsyncDisposableStack();
    const keys = temporaryFolder("farebox-dkim-");
    resources.defer(() => keys.remove());
    const keyFile = join(keys.path, "dkim.pem");
    writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    await using inbox = await ScriptedSmtp.start();
    await using postfix = await startPostfix(inbox.port);
    await using product = await startProduct({
      apis: 1,
      env: {
        MAIL_SMTP_URL: `smtp://127.0.0.1:${postfix.port}?tls=none`,
        MAIL_DOMAIN: "mail.relay.test",
        MAIL_DKIM_SELECTOR: "s1",
        MAIL_DKIM_KEY_FILE: keyFile,
      },
    });
    const account = await product.account({
      paid: "100",
      contract: "enterprise",
      scopes: ["mail"],
      email: "ada@acme.test",
    });
    const text = `.\n..\n.leading\n${"long ".repeat(2_000)}\nFrom here\nGrüße 😀\n`;
    const send = async (body: object) => {
      const reply = await fetch(`${product.api(0).url}/v1/mail/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${account.key}` },
        body: JSON.stringify({ subject: "Grüße 😀 ".repeat(15), text, ...body }),
      });
      return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
    };

    const html = `<html><body>${"<p>x</p>".repeat(2_000)}</body></html>`;
    const sent = await send({ to: ["ada@x.test", REFUSED, "bob@y.test"], html });
    expect(sent).toMatchObject({ status: 200, body: { status: "sent", accepted: 2, rejected: 1 } });
    const refused = await send({ to: REFUSED });
    expect(refused).toMatchObject({ status: 422, body: { error: { code: "mail_rejected" } } });

    await eventually("it arrives", () => inbox.accepted.flatMap(({ to }) => to).length === 2);
    const [arrived] = inbox.accepted;
    const raw = arrived?.raw ?? Buffer.alloc(0);
    const mail = await simpleParser(raw);
    expect(mail.text).toBe(`${text.trimEnd()}\n\n-- \nSent by acme.test through Farebox.\n`);
    expect(mail.subject).toBe("Grüße 😀 ".repeat(15).trim());
    expect(mail.html).toContain("Sent by acme.test through Farebox.</p></body></html>");
    expect(mail.messageId).toBe(`<${sent.body.id}@mail.relay.test>`);
    expect(mail.from?.value[0]?.name).toBe("acme.test via Farebox");
    const signature = verifyDkim(raw.toString("latin1"), publicKey);
    expect(signature).toEqual({ body: true, headers: true, domain: "mail.relay.test" });
    const { difference } = await product.audit();
    expect(difference).toBeNull();
  },
  120_000,
);
