// Reads the service's own mails as their recipients do: they are sent to a real mail server.

import { type ParsedMail, simpleParser } from "mailparser";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { createServiceMimeBuilder } from "../../../src/services/mail/providers/mime.ts";
import { SmtpTransport } from "../../../src/services/mail/providers/smtp-transport.ts";
import { parseRelay } from "../../../src/services/mail/smtp-relay.ts";
import { Outbox } from "../../../src/store/mail/outbox.ts";
import type { Database } from "../../../src/store/servers/database.ts";
import { sendOutbox } from "../../../workers/outbox.ts";
import { realClock } from "./fake-clock.ts";
import { ScriptedSmtp } from "./scripted-smtp.ts";
import { silent } from "./silent-log.ts";

export interface Mailbox extends AsyncDisposable {
  /** Sends the waiting mails of the outbox, and returns the unread mails to an address. */
  read(address: string): Promise<readonly ReadMail[]>;
}

/** A mail as its reader sees it: the HTML without its tags. */
export interface ReadMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The addresses of the links. */
  readonly links: readonly string[];
}

const DOMAIN = "mail.test";

export async function openMailbox(database: Database): Promise<Mailbox> {
  const smtp = await ScriptedSmtp.start();
  const relay = { ...parseRelay(`${smtp.url}?tls=none`), name: DOMAIN, timeoutMs: 60_000 };
  const transport = new SmtpTransport({ relay, connectionsMax: 4, clock: realClock });
  const deps = {
    outbox: new Outbox(database),
    transport,
    log: silent,
    mailDomain: DOMAIN,
    build: createServiceMimeBuilder({ domain: DOMAIN, brand: () => DEFAULT_BRAND, dkim: null }),
    claimMs: 10_000,
    atOnce: 4,
    retryDelayMs: () => 0,
    onAttempt: () => {},
  };
  const unread: { readonly to: readonly string[]; readonly mail: ParsedMail }[] = [];
  return {
    read: async (address) => {
      await sendOutbox(deps);
      for (const { to, raw } of smtp.accepted.splice(0)) {
        unread.push({ to, mail: await simpleParser(raw) });
      }
      const own = unread.filter(({ to }) => to.includes(address));
      for (const one of own) unread.splice(unread.indexOf(one), 1);
      const inOrder = own.toSorted((a, b) => timeOf(a.mail) - timeOf(b.mail));
      return inOrder.map(({ mail }) => readMail(mail));
    },
    [Symbol.asyncDispose]: async () => {
      transport.close();
      await smtp[Symbol.asyncDispose]();
    },
  };
}

function timeOf({ date }: ParsedMail): number {
  return date?.getTime() ?? 0;
}

function readMail({ subject = "", text = "", html }: ParsedMail): ReadMail {
  const markup = html === false || html === undefined ? "" : html;
  return {
    subject,
    text,
    html: markup.replaceAll(/<[^>]*>/g, " ").replaceAll("&amp;", "&"),
    links: [...markup.matchAll(/href="([^"]*)"/g)].map(([, url = ""]) =>
      url.replaceAll("&amp;", "&"),
    ),
  };
}
