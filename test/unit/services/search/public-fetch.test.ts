import { expect, test } from "bun:test";
import { fetchPublic } from "../../../../src/services/search/providers/embedded/public-fetch.ts";
import type { UpstreamInit } from "../../../../src/upstream/upstream-http.ts";

interface Asked {
  readonly href: string;
  readonly init: UpstreamInit;
}

const PAGE = { "page.example": [["93.184.216.34"]] };

/** Fetches by the test's resolver; returns the requests to the network, in order. */
async function fetchBy(
  start: string,
  addresses: Readonly<Record<string, readonly (readonly string[])[]>>,
  answer: (asked: Asked) => Response | Promise<Response> = () => new Response("page"),
) {
  const asked: Asked[] = [];
  const looked = new Map<string, number>();
  const fetched = await fetchPublic(new URL(start), {
    fetch: async (href, init) => {
      asked.push({ href, init });
      return answer({ href, init });
    },
    bytesMax: 1_000,
    timeoutMs: 5_000,
    allowPrivate: false,
    addressesOf: async (host) => {
      const times = looked.get(host) ?? 0;
      looked.set(host, times + 1);
      return addresses[host]?.[Math.min(times, addresses[host].length - 1)] ?? [];
    },
  });
  return { fetched, asked, looked };
}

test("the checked address is used, whatever the name resolves to later", async () => {
  const { asked, looked, fetched } = await fetchBy("https://rebinding.example:8443/a?b=1", {
    "rebinding.example": [["93.184.216.34"], ["127.0.0.1"]],
  });
  expect(asked).toMatchObject([
    {
      href: "https://93.184.216.34:8443/a?b=1",
      init: {
        headers: { host: "rebinding.example:8443" },
        tls: { servername: "rebinding.example" },
      },
    },
  ]);
  expect(looked.get("rebinding.example")).toBe(1);
  expect(fetched.url.href).toBe("https://rebinding.example:8443/a?b=1");
});

test("an IPv6 address is written in brackets", async () => {
  const { asked } = await fetchBy("http://six.example/", {
    "six.example": [["2606:4700::1111"]],
  });
  expect(asked[0]?.href).toBe("http://[2606:4700::1111]/");
});

test("the next address of a host is asked if the first refuses the connection", async () => {
  const addresses = { "two.example": [["2606:4700::1111", "93.184.216.34"]] };
  const refused = () => Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));
  const { asked, fetched } = await fetchBy("http://two.example/", addresses, ({ href }) =>
    href.includes("[") ? refused() : new Response("page"),
  );
  expect(asked.map(({ href }) => href)).toEqual([
    "http://[2606:4700::1111]/",
    "http://93.184.216.34/",
  ]);
  expect(fetched.text).toBe("page");
  await expect(fetchBy("http://two.example/", addresses, refused)).rejects.toThrow("ECONNREFUSED");
});

test("no other address is tried if the first one answers with a failure", async () => {
  const addresses = { "two.example": [["93.184.216.34", "93.184.216.35"]] };
  let asked = 0;
  const failing = () => {
    asked += 1;
    return new Response("", { status: 500 });
  };
  await expect(fetchBy("http://two.example/", addresses, failing)).rejects.toThrow("500");
  expect(asked).toBe(1);
});

for (const [what, addresses] of [
  ["is private", ["192.168.1.1"]],
  ["is private besides a public one", ["93.184.216.34", "::ffff:10.0.0.1"]],
  ["is none", []],
] as const) {
  test(`a host whose address ${what} gets no request`, async () => {
    const fetching = fetchBy("http://inside.example/", { "inside.example": [addresses] });
    await expect(fetching).rejects.toThrow(/address/);
  });
}

test("a literal address is held to the same rule", async () => {
  await expect(fetchBy("http://169.254.169.254/latest", {})).rejects.toThrow("not public");
  const { asked } = await fetchBy("http://93.184.216.34/", {});
  expect(asked[0]?.href).toBe("http://93.184.216.34/");
});

test("each redirect is checked again, by the name and not by the address", async () => {
  const addresses = {
    "first.example": [["93.184.216.34"]],
    "second.example": [["127.0.0.1"]],
  };
  const redirect = () =>
    new Response("", { status: 302, headers: { location: "//second.example/" } });
  await expect(fetchBy("http://first.example/", addresses, redirect)).rejects.toThrow("not public");
  const paths: string[] = [];
  await fetchBy("http://first.example/a", addresses, ({ href }) => {
    paths.push(href);
    return paths.length > 1
      ? new Response("page")
      : new Response("", { status: 302, headers: { location: "/b" } });
  });
  expect(paths).toEqual(["http://93.184.216.34/a", "http://93.184.216.34/b"]);
});

test("a page is read in its declared charset, or else as UTF-8", async () => {
  const read = async (type: string, ...bytes: (string | number)[]) => {
    const body = Buffer.concat(
      bytes.map((one) => (typeof one === "string" ? Buffer.from(one) : Buffer.from([one]))),
    );
    const { fetched } = await fetchBy("http://page.example/", PAGE, () => {
      return new Response(body, { headers: { "content-type": type } });
    });
    return fetched.text;
  };
  expect(await read("text/html; charset=ISO-8859-1", "Caf", 0xe9)).toBe("Café");
  expect(await read('text/html;charset="Shift_JIS"', 0x93, 0xfa)).toBe("日");
  const meta = "<html><head><meta charset=windows-1252>";
  expect(await read("text/html", meta, "Caf", 0xe9)).toBe(`${meta}Café`);
  expect(await read("text/html; charset=utf-8", meta, "Café")).toBe(`${meta}Café`);
  expect(await read("text/html; charset=nonsense", "Café")).toBe("Café");
  expect(await read("text/html", "\ufeffCafé", 0xe9)).toBe("Café\ufffd");
});
