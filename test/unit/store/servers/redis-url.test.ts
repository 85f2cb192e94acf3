import { expect, test } from "bun:test";
import { parseRedisUrl, WrongRedisUrl } from "../../../../src/store/servers/redis-url.ts";

test("the address of one server is passed on unchanged", () => {
  const url = "redis://:secret@127.0.0.1:6379/2";
  expect(parseRedisUrl(url)).toEqual({ kind: "server", url, tls: undefined });
  expect(parseRedisUrl("rediss://h:1")).toEqual({ kind: "server", url: "rediss://h:1", tls: {} });
});

test("a Unix socket has a path, a user, a password and a database", () => {
  const login = { user: "", password: "", database: "" };
  for (const [url, socket] of [
    ["unix:///run/redis/redis.sock", { ...login, path: "/run/redis/redis.sock" }],
    [
      "unix:///srv/a%20b%3F/r.sock?db=2&user=me&password=p%40s+s/w==",
      { path: "/srv/a b?/r.sock", user: "me", password: "p@s+s/w==", database: "2" },
    ],
  ] as const) {
    expect(parseRedisUrl(url)).toEqual({ kind: "server", url, tls: undefined, socket });
  }
});

test("the seeds of a cluster have the user, password and TLS of the first one", () => {
  expect(parseRedisUrl("rediss://me:p%40ss@one:7000,rediss://two,rediss://[::1]:7002")).toEqual({
    kind: "cluster",
    seeds: [
      { host: "one", port: 7000 },
      { host: "two", port: 6379 },
      { host: "::1", port: 7002 },
    ],
    access: { username: "me", password: "p@ss", tls: {} },
  });
  expect(parseRedisUrl("redis+cluster://one")).toEqual({
    kind: "cluster",
    seeds: [{ host: "one", port: 6379 }],
    access: {},
  });
});

test("Sentinels have a master and their own login", () => {
  const url = "redis+sentinel://me:secret@one,two:1/money/3?sentinel-password=other";
  expect(parseRedisUrl(url)).toEqual({
    kind: "sentinel",
    sentinels: [
      { host: "one", port: 26_379 },
      { host: "two", port: 1 },
    ],
    master: "money",
    database: 3,
    access: { username: "me", password: "secret" },
    sentinelLogin: { password: "other" },
  });
});

test.each([
  ["redis://one,rediss://two", "all rediss:"],
  ["redis://a:b@one,redis://a:c@two", "same user and password"],
  ["redis://one,nothing", "cannot be read"],
  ["redis://me:secret@one:port", "cannot be read"],
  ["redis://one?ca=/some/file.pem", "must begin with rediss:"],
  ["redis+sentinel://one", "redis+sentinel://host:26379,host:26379/master"],
  ["rediss://one?ca=/no/such/file.pem", "'/no/such/file.pem', which cannot be read"],
  ["unix:///one.sock,unix:///two.sock", "must name one socket"],
  ["unix://relative.sock", "must have three slashes"],
  ["redis+cluster://one?ca=/no/such/file.pem", "must begin with rediss:"],
])("%s is refused in words", (url, words) => {
  expect(() => parseRedisUrl(url)).toThrow(WrongRedisUrl);
  expect(() => parseRedisUrl(url)).toThrow(words);
});
