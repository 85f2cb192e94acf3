// Kills worker processes while they deliver: at each stage of the conversation with the mail
// server, and in the moments after it.

import { Queue } from "bullmq";
import { simpleParser } from "mailparser";
import { fromUuid } from "../../../src/core/ids.ts";
import { mailCost } from "../../../src/core/mail.ts";
import { MAIL_QUEUE, MAIL_QUEUE_PREFIX } from "../../../src/store/mail/mail-queue.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { type Act, ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { must, sweepDead } from "../../support/product/product-checks.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const STAGES = ["connect", "from", "to", "begin", "data", "accepted", "after"] as const;
type Stage = (typeof STAGES)[number];

/** Stages at which the server may have accepted a message without the worker's knowledge. */
const DOUBTFUL: ReadonlySet<Stage> = new Set(["data", "accepted", "after"]);
const MESSAGES_A_ROUND = 3;
const MOMENT_MS_MAX = 25;
const END_MS_MAX = 120_000;
const MAIL_DOMAIN = "mail.chaos.test";

interface Told {
  readonly id: string;
  readonly status: number;
}

/** Kills the worker this many times, then proves that each message ended, and was charged, once. */
export async function killMailWorkers({ times, random, say }: ChaosOptions): Promise<void> {
  await using smtp = await ScriptedSmtp.start();
  await using product = await startProduct({
    apis: 1,
    env: {
      MAIL_SMTP_URL: `${smtp.url}?tls=none`,
      MAIL_DOMAIN,
      MAIL_TIMEOUT_SECONDS: "1",
      MAIL_WAIT_SECONDS: "1",
    },
  });
  const terms = { paid: "100000", contract: "enterprise", scopes: ["mail"] } as const;
  const accounts = await Promise.all([product.account(terms), product.account(terms)]);
  const told: Told[] = [];
  const deaths = new Map<Stage, number>();
  for (let kill = 0; kill < times; kill += 1) {
    const stage = STAGES[kill % STAGES.length] ?? "data";
    deaths.set(stage, (deaths.get(stage) ?? 0) + 1);
    const dead = killAt(product, smtp, stage, random.between(0, MOMENT_MS_MAX));
    const sends = Array.from({ length: MESSAGES_A_ROUND }, () =>
      send(product, random.pick(accounts)),
    );
    await dead;
    await product.workers[0]?.start();
    told.push(...(await Promise.all(sends)));
  }
  await hurry(product);
  await untilEnded(product);
  const doubts = [...deaths].reduce((sum, [stage, n]) => sum + (DOUBTFUL.has(stage) ? n : 0), 0);
  const { repeats, abandoned } = await prove(product, smtp, told, doubts);
  const kinds = [...deaths].map(([stage, n]) => `${n} ${stage}`).join(", ");
  say(`${times} mail worker kills: ${kinds}`);
  const free = `${abandoned} in doubt twice, free`;
  say(`  ${told.length} messages ended, charged once; ${repeats} repeats, ${free}; audit clean`);
}

/** Resolves once the worker is dead. */
function killAt(
  product: Product,
  smtp: ScriptedSmtp,
  stage: Stage,
  momentMs: number,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isArmed = true;
  const kill = () => {
    if (!isArmed) return;
    isArmed = false;
    smtp.script = {};
    product.workers[0]?.kill9().then(resolve, reject);
  };
  const act = (): Act => {
    if (!isArmed) return null;
    kill();
    return "hang";
  };
  switch (stage) {
    case "connect":
      smtp.dropAll();
      smtp.script = { connect: act };
      break;
    case "from":
    case "to":
      smtp.script = { [stage]: act };
      break;
    case "begin":
      smtp.script = { begin: () => (act() === null ? null : "hang") };
      break;
    case "data":
      smtp.script = { data: act };
      break;
    case "accepted":
      smtp.script = {
        data: async () => {
          if (!isArmed) return null;
          kill();
          await promise;
          return "lost";
        },
      };
      break;
    case "after":
      smtp.script = {
        data: () => {
          setTimeout(kill, momentMs);
          return null;
        },
      };
  }
  return promise;
}

async function send(product: Product, account: TestAccount): Promise<Told> {
  const reply = await fetch(`${product.api(0).url}/v1/mail/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({ to: "ada@x.test", subject: "Chaos", text: "A line." }),
  });
  const body = (await reply.json()) as { id: string };
  must(reply.status === 200 || reply.status === 202, () => `A send was answered ${reply.status}`);
  return { id: body.id, status: reply.status };
}

/** Makes every waiting message due: many kills put some of them off for hours. */
async function hurry({ operator, redis }: Product): Promise<void> {
  await operator.database.sql`UPDATE mail_messages SET next_attempt_at = now()
    WHERE settled_at IS NULL AND claimed_until IS NULL`;
  const connection = openRedis(redis.url, "queue");
  const queue = new Queue(MAIL_QUEUE, { connection, prefix: MAIL_QUEUE_PREFIX });
  await queue.promoteJobs();
  await queue.close();
  connection.disconnect();
}

async function untilEnded({ operator }: Product): Promise<void> {
  await eventually(
    "every message has ended and is settled",
    async () => {
      const [row] = await operator.database.sql`
        SELECT count(*)::int AS open FROM mail_messages WHERE settled_at IS NULL`;
      return row?.open === 0;
    },
    END_MS_MAX,
  );
}

interface Proof {
  /** Messages that the server accepted twice. */
  readonly repeats: number;
  /** Messages that the server may have accepted, and that were not sent a third time. */
  readonly abandoned: number;
}

async function prove(
  product: Product,
  smtp: ScriptedSmtp,
  told: readonly Told[],
  doubts: number,
): Promise<Proof> {
  const accepted = new Map<string, number>();
  for (const { raw } of smtp.accepted) {
    const id = /^<(.*)@/.exec((await simpleParser(raw)).messageId ?? "")?.[1] ?? "";
    accepted.set(id, (accepted.get(id) ?? 0) + 1);
  }
  const swept = await sweepDead(product);
  must(swept === 0, () => `${swept} holds were left to the sweep`);
  const { difference, openHolds } = await product.audit();
  must(difference === null && openHolds === 0, () => `audit: ${JSON.stringify(difference)}`);
  const { sql } = product.operator.database;
  const rows = await sql`
    SELECT m.id::text, m.status, m.failure, m.cost::text AS cost,
      (SELECT count(*)::int FROM mail_contents) AS boxes,
      (SELECT (-sum(paid_delta + free_delta))::text FROM ledger_entries l
        WHERE l.request = m.request) AS charged
    FROM mail_messages m`;
  must(rows.length === told.length, () => `${told.length} were told of ${rows.length} messages`);
  // A message that may have been accepted twice is not sent a third time, and costs nothing.
  const abandoned = rows.filter(({ failure }) => failure === "unanswered");
  const abandonedMax = (doubts * MESSAGES_A_ROUND) / 2;
  must(abandoned.length <= abandonedMax, () => `${abandoned.length} given up, ${doubts} doubts`);
  for (const { id, status, failure, cost, charged, boxes } of rows) {
    const isRight = (status === "sent" || failure === "unanswered") && boxes === 0;
    must(isRight, () => `${id} is ${status} (${failure}), ${boxes} contents are left`);
    const price = status === "sent" ? mailCost(1).toString() : null;
    must(
      (cost ?? "0") === (price ?? "0") && charged === price,
      () => `${id} cost ${cost} and was charged ${charged}`,
    );
  }
  const unanswered = new Set(abandoned.map(({ id }) => fromUuid("message", id)));
  for (const { id } of told) {
    const times = accepted.get(id) ?? 0;
    const isRight = (times > 0 || unanswered.has(id)) && times <= 2;
    must(isRight, () => `${id} was accepted ${times} times`);
  }
  const repeats = [...accepted.values()].filter((times) => times > 1).length;
  must(repeats <= doubts * MESSAGES_A_ROUND, () => `${repeats} repeats after ${doubts} doubts`);
  return { repeats, abandoned: abandoned.length };
}
