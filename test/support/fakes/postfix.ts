// Runs a real Postfix on loopback, from the system's packages, with private folders only. Postfix
// relays messages to a given port.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { eventually } from "../eventually.ts";

const POSTFIX = "/usr/sbin/postfix";
const DAEMONS = "/usr/lib/postfix/sbin";
/** An address without a mailbox. */
export const REFUSED = "nobody@refused.test";

export interface Postfix extends AsyncDisposable {
  readonly port: number;
  /** The log of Postfix. */
  readonly log: string;
}

/** True if Postfix is installed. Installs it if possible, which needs root and apt. */
export function ensurePostfix(): boolean {
  if (process.getuid?.() !== 0) return false;
  if (!existsSync(POSTFIX)) {
    const install = ["apt-get", "install", "-y", "--no-install-recommends", "postfix"];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    try {
      Bun.spawnSync(["apt-get", "update"], { env });
      Bun.spawnSync(install, { env });
    } catch {
      return false;
    }
  }
  return existsSync(POSTFIX) && existsSync(join(DAEMONS, "master"));
}

export async function startPostfix(nextPort: number): Promise<Postfix> {
  const folder = temporaryFolder("farebox-test-postfix-");
  const home = folder.path;
  // Postfix's own users must be able to enter this folder.
  chmodSync(home, 0o755);
  for (const name of ["conf", "spool", "data"]) mkdirSync(join(home, name));
  Bun.spawnSync(["chown", "postfix", join(home, "data")]);
  const port = await freePort();
  writeFileSync(join(home, "conf/main.cf"), mainConfig(home, nextPort));
  writeFileSync(join(home, "conf/master.cf"), masterConfig(port));
  const run = (command: string) => {
    const done = Bun.spawnSync([POSTFIX, "-c", join(home, "conf"), command]);
    if (done.exitCode !== 0) throw new Error(`postfix ${command}: ${done.stderr} ${logOf(home)}`);
  };
  run("start");
  await eventually("Postfix listens", () => isListening(port));
  return {
    port,
    get log() {
      return logOf(home);
    },
    [Symbol.asyncDispose]: async () => {
      run("stop");
      await eventually("Postfix has stopped", async () => !(await isListening(port)));
      folder.remove();
    },
  };
}

function mainConfig(home: string, nextPort: number): string {
  return `
compatibility_level = 3.6
queue_directory = ${home}/spool
data_directory = ${home}/data
command_directory = /usr/sbin
daemon_directory = ${DAEMONS}
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${home}/maillog
maillog_file_prefixes = ${home}
myhostname = relay.test
mydestination =
alias_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:${nextPort}
smtp_dns_support_level = disabled
smtp_host_lookup = native
smtpd_recipient_restrictions =
  check_recipient_access inline:{ {${REFUSED} = 550 5.1.1 no such user} },
  permit_mynetworks, reject
`;
}

function masterConfig(port: number): string {
  const services = [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    "pickup unix n - n 60 1 pickup",
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "rewrite unix - - n - - trivial-rewrite",
    ...["bounce", "defer", "trace"].map((name) => `${name} unix - - n - 0 bounce`),
    "verify unix - - n - 1 verify",
    "flush unix n - n 1000? 0 flush",
    "proxymap unix - - n - - proxymap",
    "smtp unix - - n - - smtp",
    "relay unix - - n - - smtp",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "discard unix - - n - - discard",
    "anvil unix - - n - 1 anvil",
    "scache unix - - n - 1 scache",
    "postlog unix-dgram n - n - 1 postlogd",
  ];
  return `${services.join("\n")}\n`;
}

function logOf(home: string): string {
  const file = join(home, "maillog");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

async function isListening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
