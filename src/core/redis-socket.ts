// Reads the address of a Redis on this machine, reached over its Unix domain socket:
// unix:///path/to/redis.sock?db=0&user=NAME&password=SECRET.

export interface RedisSocket {
  readonly path: string;
  /** Empty for the user `default`. */
  readonly user: string;
  /** Empty if Redis needs no password. */
  readonly password: string;
  /** Empty for database 0. */
  readonly database: string;
}

type Login = Omit<RedisSocket, "path">;

/** The limit of the kernel of Linux; that of macOS is 103. */
const PATH_BYTES_MAX = 107;
const FORM = /^unix:\/\/(\/[^?]*[^?/])(?:\?(.*))?$/s;
const LOGIN: Login = { user: "", password: "", database: "" };
const PARAMETERS: ReadonlyMap<string, keyof Login> = new Map([
  ["user", "user"],
  ["password", "password"],
  ["db", "database"],
]);

/** True for an address that `parseRedisSocket` reads or refuses. */
export function isRedisSocket(text: string): boolean {
  return text.startsWith("unix:");
}

/**
 * The parts of an address. Unlike in a form of HTML, a '+' means itself, so that a password in
 * base64 needs no encoding.
 * @throws RangeError whose message continues the name of the setting and contains no secret
 */
export function parseRedisSocket(text: string): RedisSocket {
  if (/,[\w+]+:\/\//.test(text)) throw new RangeError("must name one socket; a Cluster has none");
  if (text.includes("#")) throw new RangeError("must have %23 for a '#'");
  const [, path, query] = FORM.exec(text) ?? [];
  if (path === undefined) {
    throw new RangeError(
      "must have three slashes and the whole path of a socket, as unix:///path/to/redis.sock",
    );
  }
  return { path: decodePath(path), ...parseLogin(query) };
}

function decodePath(encoded: string): string {
  const path = decode(encoded);
  const bytes = new TextEncoder().encode(path).length;
  if (bytes > PATH_BYTES_MAX) {
    throw new RangeError(
      `has a path of ${bytes} bytes; that of a Unix socket has at most ${PATH_BYTES_MAX}`,
    );
  }
  if (path.includes("\0")) throw new RangeError("must have no %00 in its path");
  return path;
}

function parseLogin(query: string | undefined): Login {
  if (query === undefined) return LOGIN;
  const pairs = query.split("&").map((pair): [keyof Login, string] => {
    const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
    const part = PARAMETERS.get(name);
    if (part === undefined) throw wrongParameters();
    return [part, decode(value)];
  });
  if (new Set(pairs.map(([part]) => part)).size < pairs.length) throw wrongParameters();
  const login: Login = { ...LOGIN, ...Object.fromEntries(pairs) };
  if (!/^\d{0,9}$/.test(login.database)) throw new RangeError("must have a whole number as its db");
  return login;
}

function wrongParameters(): RangeError {
  return new RangeError("may have db=, user= and password= after its '?', each once, nothing else");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError("must have %25 for a '%'");
  }
}
