// Tests the guarantees of the table of variables to an operator.

import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadMailConfig, loadServerConfig, loadStoreConfig } from "../../../src/settings/config.ts";
import { ConfigError, type Environment } from "../../../src/settings/environment.ts";
import { launcherHome } from "../../support/product/launcher.ts";

const SECRET = "a secret of sixteen";
const STORES = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
  KEY_PEPPER: SECRET,
  IP_HASH_SECRET: SECRET,
};

const serverOf = (env: Environment) => loadServerConfig(9464, { ...STORES, ...env });

function problems(load: () => unknown): string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

test.each([
  ["REDIS_URL", "redis://:100%sure@127.0.0.1"],
  ["QUEUE_REDIS_URL", "rediss+sentinel://u:%ff@127.0.0.1/main"],
  ["DATABASE_URL", "postgres://u:100%sure@127.0.0.1,127.0.0.2/x?target_session_attrs=primary"],
  ["MAIL_SMTP_URL", "smtp://u:100%sure@127.0.0.1"],
])("%s with a bare percent sign is refused without its password", (name, value) => {
  const found = problems(() => serverOf({ MAIL_DOMAIN: "mail.test", [name]: value }));
  expect(found).toEqual([`${name} must have %25 for a '%' in its user or password`]);
});

test("a DKIM key that could not sign is refused before any mail is sent unsigned", () => {
  const pkcs8 = { type: "pkcs8", format: "pem" } as const;
  const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const locked = { ...pkcs8, cipher: "aes-256-cbc", passphrase: "x" };
  for (const key of [
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    generateKeyPairSync("ed25519").privateKey.export(pkcs8),
    rsa.export(locked),
    generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({
      type: "spki",
      format: "pem",
    }),
  ]) {
    const env = { MAIL_DKIM_SELECTOR: "s1", MAIL_DKIM_KEY: String(key) };
    expect(problems(() => loadMailConfig(env))).toEqual([
      "MAIL_DKIM_KEY must hold an RSA private key without a passphrase as PEM",
    ]);
  }
});

test("by default, the defaults count; an empty variable counts as not set", () => {
  const defaults = serverOf({});
  expect(defaults).toMatchObject({
    host: "127.0.0.1",
    port: 8080,
    queueRedisUrl: STORES.REDIS_URL,
    trustedProxies: [],
    catalogueFile: { path: "farebox.config.json", required: false },
    journalKeepMs: 120_000,
    docsTryIt: false,
  });
  const { environment: _, ...same } = serverOf({ PORT: "", TRUSTED_PROXIES: "", MAIL_DOMAIN: "" });
  expect(defaults).toMatchObject(same);
  expect(Object.isFrozen(defaults)).toBe(true);
});

test.each([
  ["PORT", "8o8o", "PORT must be a whole number from 0 to 65535, but is '8o8o'"],
  ["PORT", "65536", "PORT must be a whole number from 0 to 65535, but is '65536'"],
  ["PORT", "-1", "PORT must be a whole number from 0 to 65535, but is '-1'"],
  [
    "LOG_LEVEL",
    "loud",
    "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, ",
  ],
  ["DOCS_TRY_IT", "yes", "DOCS_TRY_IT must be one of true, false, but is 'yes'"],
  ["FREE_PLAN_ALLOWANCE_USD", "1,5", "FREE_PLAN_ALLOWANCE_USD must be an amount of USD such as "],
  ["FREE_PLAN_ALLOWANCE_USD", "-1", "FREE_PLAN_ALLOWANCE_USD must be an amount of USD such as "],
  ["TRUSTED_PROXIES", "10.0.0.0/8, x", "TRUSTED_PROXIES must be addresses and CIDR blocks ("],
])("%s=%s is refused by its name and its rule", (name, value, message) => {
  const [problem = "", ...more] = problems(() => serverOf({ [name]: value }));
  expect(more).toEqual([]);
  expect(problem).toStartWith(message);
});

test.each([
  ["REDIS_URL", "127.0.0.1:6379"],
  ["QUEUE_REDIS_URL", "/var/run/redis.sock"],
  ["REDIS_URL", "redis+unix:///path/redis.sock"],
  ["REDIS_URL", "redis-socket:///path/redis.sock"],
  ["QUEUE_REDIS_URL", "unix+redis:///path/redis.sock"],
  ["DATABASE_URL", "ledger"],
  ["DATABASE_URL", "mysql://127.0.0.1/farebox"],
  ["DATABASE_URL", "postgres://user:secret@[half/farebox"],
])("%s=%s is refused by its name and its rule, without the secret", (name, value) => {
  const [problem = "", ...more] = problems(() => serverOf({ [name]: value }));
  expect(more).toEqual([]);
  expect(problem).toMatch(new RegExp(`^${name} must be an address such as \\S+$`));
  expect(problem).not.toContain(value);
});

const LONG_PATH = `/${"a".repeat(120)}`;
const WHOLE_PATH =
  "must have three slashes and the whole path of a socket, as unix:///path/to/redis.sock";
const PARAMETERS = "may have db=, user= and password= after its '?', each once, nothing else";

test.each([
  ["unix:", WHOLE_PATH],
  ["unix:/run/redis.sock", WHOLE_PATH],
  ["unix://run/redis.sock", WHOLE_PATH],
  ["unix://:secret@/run/redis.sock", WHOLE_PATH],
  ["unix:///", WHOLE_PATH],
  ["unix:///run/redis/?password=secret", WHOLE_PATH],
  ["unix:///run/redis.sock?secret", PARAMETERS],
  ["unix:///run/redis.sock?", PARAMETERS],
  ["unix:///run/redis.sock?username=secret", PARAMETERS],
  ["unix:///run/redis.sock?db=1&password=secret&db=2", PARAMETERS],
  ["unix:///run/redis.sock?db=one", "must have a whole number as its db"],
  ["unix:///run/redis.sock?password=100%secret", "must have %25 for a '%'"],
  ["unix:///run/redis.sock?password=#secret", "must have %23 for a '#'"],
  ["unix:///a.sock?password=secret,unix:///b.sock", "must name one socket; a Cluster has none"],
  ["unix:///a%00.sock", "must have no %00 in its path"],
  [`unix://${LONG_PATH}`, "has a path of 121 bytes; that of a Unix socket has at most 107"],
])("REDIS_URL=%s is refused by its name and its rule, without the secret", (value, rule) => {
  expect(problems(() => serverOf({ REDIS_URL: value }))).toEqual([`REDIS_URL ${rule}`]);
});

test("REDIS_URL and QUEUE_REDIS_URL may each be a Unix socket", () => {
  const REDIS_URL = "unix:///run/redis/redis.sock?db=1&user=farebox&password=a+b/c==";
  const { redisUrl, queueRedisUrl } = serverOf({ REDIS_URL });
  expect([redisUrl, queueRedisUrl]).toEqual([REDIS_URL, REDIS_URL]);
  const QUEUE_REDIS_URL = "unix:///run/redis/queue.sock";
  expect(serverOf({ QUEUE_REDIS_URL }).queueRedisUrl).toBe(QUEUE_REDIS_URL);
});

test.each(["", "?target_session_attrs=any", "?target_session_attrs=standby"])(
  "a DATABASE_URL of several servers must name those that take writes, so '%s' is refused",
  (end) => {
    const url = `postgres://user:secret@ONE:5432,TWO:5432/farebox${end}`;
    expect(problems(() => serverOf({ DATABASE_URL: url }))).toEqual([
      "DATABASE_URL names several servers, so it must have target_session_attrs=read-write",
    ]);
  },
);

test.each([
  "postgres:///farebox?host=/run/postgresql",
  "postgres://ONE,TWO/farebox?target_session_attrs=primary",
  "postgresql://user:a,b%2F@ONE:5432,TWO:5432/farebox?target_session_attrs=read-write",
])("DATABASE_URL may be %s", (url) => {
  expect(serverOf({ DATABASE_URL: url }).databaseUrl).toBe(url);
});

test("one message names every variable that is missing or wrong", () => {
  const env = { ...STORES, REDIS_URL: "", PORT: "x", MAIL_WAIT_SECONDS: "61" };
  expect(problems(() => loadServerConfig(9464, env))).toEqual([
    "REDIS_URL is not set; `npm start` sets it",
    "PORT must be a whole number from 0 to 65535, but is 'x'",
    "MAIL_WAIT_SECONDS must be a whole number from 0 to 60, but is '61'",
  ]);
});

test("a secret can be in a file, whose last line break does not count", () => {
  using folder = launcherHome();
  const file = join(folder.path, "secret");
  const { KEY_PEPPER: _, ...others } = STORES;
  const load = (more: Environment) => loadStoreConfig({ ...others, ...more });
  for (const end of ["", "\n", "\r\n"]) {
    writeFileSync(file, `${SECRET},${SECRET} 2${end}`);
    const { secrets } = load({ KEY_PEPPER_FILE: file });
    expect(secrets.KEY_PEPPER).toEqual([SECRET, `${SECRET} 2`]);
  }
  expect(problems(() => load({ KEY_PEPPER_FILE: file, KEY_PEPPER: SECRET }))).toEqual([
    "KEY_PEPPER and KEY_PEPPER_FILE are both set; set one of them",
  ]);
  expect(problems(() => load({ KEY_PEPPER_FILE: "/none" }))).toEqual([
    "KEY_PEPPER_FILE names '/none', which cannot be read",
  ]);
  writeFileSync(file, "short");
  expect(problems(() => load({ KEY_PEPPER_FILE: file }))).toEqual([
    "KEY_PEPPER_FILE must have at least 16 characters",
  ]);
});

test("an empty file of a secret is refused, and does not count as an empty secret", () => {
  using folder = launcherHome();
  const file = join(folder.path, "empty");
  for (const text of ["", "\n", " \n\n"]) {
    writeFileSync(file, text);
    for (const name of ["STRIPE_SECRET_KEY", "OPERATOR_OIDC_CLIENT_SECRET"]) {
      expect(problems(() => serverOf({ [`${name}_FILE`]: file }))).toEqual([
        `${name}_FILE names '${file}', which is empty`,
      ]);
    }
  }
});

test("a list without any address does not stand for all addresses", () => {
  for (const text of [",", " ", " , "]) {
    expect(problems(() => serverOf({ OPERATOR_ALLOWED_IPS: text }))).toEqual([
      `OPERATOR_ALLOWED_IPS must hold at least one address or CIDR block, but is '${text}'`,
    ]);
  }
});

test("a variable that is not a secret has no variant with a file", () => {
  expect(serverOf({ PORT_FILE: "/none" }).port).toBe(8080);
});

test("mail is signed with a key in a file, or in the variable itself", () => {
  using folder = launcherHome();
  const file = join(folder.path, "key.pem");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const key = String(privateKey.export({ type: "pkcs1", format: "pem" })).trimEnd();
  writeFileSync(file, `${key}\n`);
  const dkim = { selector: "s1", privateKey: key };
  const MAIL_DKIM_SELECTOR = "s1";
  expect(loadMailConfig({ MAIL_DKIM_SELECTOR, MAIL_DKIM_KEY_FILE: file }).dkim).toEqual(dkim);
  expect(loadMailConfig({ MAIL_DKIM_SELECTOR, MAIL_DKIM_KEY: key }).dkim).toEqual(dkim);
});
