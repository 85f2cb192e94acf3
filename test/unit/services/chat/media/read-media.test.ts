// The media of a body: the URLs that are taken, their types, and refusals by name.

import { describe, expect, test } from "bun:test";
import { base64Of } from "../../../../../src/services/chat/media/media-part.ts";
import { readImage, readPdf } from "../../../../../src/services/chat/media/read-media.ts";
import { dataUrl, frame, jpeg, pdfUrl, png, pngUrl } from "../../../../support/api/images.ts";
import { refusalBy } from "../../../../support/api/rejection.ts";

const PARAM = "messages[0].content[1].image_url.url";

const refusalOf = (url: string) => refusalBy(() => readImage({ url, param: PARAM }));

describe("an image", () => {
  test("of a data URL has the size of its header, and goes on as it came", () => {
    const url = pngUrl(640, 480, 99);
    const image = readImage({ url, param: PARAM, detail: "low" });
    expect(image).toMatchObject({ kind: "image", url, size: { width: 640, height: 480 } });
    expect(image).toMatchObject({ mediaType: "image/png", detail: "low", param: PARAM });
    expect(`data:image/png;base64,${base64Of(image)}`).toBe(url);
  });

  test.each([
    ["a wrong type", "image/png"],
    ["an alias", "image/jpg"],
    ["parameters", "image/jpeg;name=a.jpg"],
    ["no image at all", "application/octet-stream"],
    ["upper case", "IMAGE/JPEG"],
  ])("whose URL says %s has the type of its header", (_, type) => {
    const bytes = jpeg(frame({ width: 5, height: 6 }));
    const image = readImage({ url: dataUrl(type, bytes), param: PARAM });
    expect(image.mediaType).toBe("image/jpeg");
    expect(image.url).toBe(dataUrl("image/jpeg", bytes));
    expect(base64Of(image)).toBe(bytes.toString("base64"));
  });

  test.each([
    ["an SVG", dataUrl("image/svg+xml", Buffer.from("<svg width='1' height='1'/>"))],
    ["a broken header", dataUrl("image/png", png({ width: 9, height: 9 }).subarray(0, 18))],
    ["no data", "data:image/png;base64,"],
    ["no base64", `data:image/png,${png({ width: 1, height: 1 }).toString("latin1")}`],
    ["no type", "data:;base64,AAAA"],
    ["a head without end", `data:image/png;${"a=b;".repeat(10_000)}base64,AAAA`],
    ["a PDF", pdfUrl()],
  ])("that is %s is refused, and the field is named", (_, url) => {
    const error = refusalOf(url);
    expect(error).toMatchObject({ code: "invalid_parameter", param: PARAM });
    expect(error.message).toBe(
      `${PARAM} must be a PNG, JPEG, GIF or WebP image in base64, with a whole header`,
    );
  });
});

describe("an address", () => {
  test.each([
    ["https://example.com/a.png", "https://example.com/a.png"],
    ["https://EXAMPLE.com:443/a b?c#d".replace(" ", "%20"), "https://example.com/a%20b?c#d"],
    ["https://xn--bcher-kva.example.org/x", "https://xn--bcher-kva.example.org/x"],
    ["https://bücher.example.org/x", "https://xn--bcher-kva.example.org/x"],
    ["https://a_b.s3.eu-west-1.amazonaws.com/k?X-Amz-Signature=1", null],
  ])("%s of a public host is taken in one form", (url, href) => {
    const image = readImage({ url, param: PARAM });
    expect(image).toMatchObject({ url: href ?? url, size: null, mediaType: null, dataAt: 0 });
  });

  const CREDENTIALS = "must not have credentials";
  const HOST = "must name a public host, and no IP address";
  const PRIVATE = "must name a host of the public internet";
  const FORM = "must be a data URL, or be an address such as https://…";
  const SCHEME = "must be a data URL, or begin with https://";

  test.each([
    ["http://example.com/a.png", SCHEME],
    ["ftp://example.com/a.png", SCHEME],
    ["file:///etc/passwd", SCHEME],
    ["gs://bucket/object", SCHEME],
    ["s3://bucket/object", SCHEME],
    ["javascript:alert(1)", SCHEME],
    ["//example.com/a.png", FORM],
    ["a.png", FORM],
    ["", FORM],
    ["https://", FORM],
    ["https://user@example.com/a.png", CREDENTIALS],
    ["https://user:secret@example.com/a.png", CREDENTIALS],
    ["https://:secret@example.com/a.png", CREDENTIALS],
    ["https://example.com:8443/a.png", "must not name a port"],
    ["https://example.com:80/a.png", "must not name a port"],
    ["https://example.com:0/a.png", "must not name a port"],
    ["https://127.0.0.1/a.png", HOST],
    ["https://127.1/a.png", HOST],
    ["https://2130706433/a.png", HOST],
    ["https://0x7f000001/a.png", HOST],
    ["https://0x7f.0.0.1/a.png", HOST],
    ["https://0177.0.0.1/a.png", HOST],
    ["https://017700000001/a.png", HOST],
    ["https://169.254.169.254/latest/meta-data", HOST],
    ["https://10.0.0.1./a.png", HOST],
    ["https://8.8.8.8/a.png", HOST],
    ["https://①②⑦.⓪.⓪.①/a.png", HOST],
    ["https://127。0。0。1/a.png", HOST],
    ["https://%31%32%37.0.0.1/a.png", HOST],
    ["https://[::1]/a.png", HOST],
    ["https://[::ffff:127.0.0.1]/a.png", HOST],
    ["https://[2606:4700::1]/a.png", HOST],
    ["https://localhost/a.png", HOST],
    ["https://intranet/a.png", HOST],
    ["https://example.com./a.png", HOST],
    ["https://-a.example.com/a.png", HOST],
    ["https://service.localhost/a.png", PRIVATE],
    ["https://printer.local/a.png", PRIVATE],
    ["https://metadata.google.internal/computeMetadata/v1/", PRIVATE],
    ["https://redis.svc.cluster.local/", PRIVATE],
    ["https://nas.lan/a.png", PRIVATE],
    ["https://wiki.corp/a.png", PRIVATE],
    ["https://router.home.arpa/a.png", PRIVATE],
    ["https://1.0.0.127.in-addr.arpa/a.png", PRIVATE],
    ["https://abc.onion/a.png", PRIVATE],
    ["https://example.com\\@127.0.0.1/a.png", FORM],
    ["https://exa\tmple.com/a.png", FORM],
    ["https://example.com/a\n.png", FORM],
    [" https://example.com/a.png", FORM],
    ["https://example.com/\u0000", FORM],
    ["https://exa mple.com/a.png", FORM],
    [`https://example.com/${"a".repeat(2_048)}`, "must be an address of at most 2048 characters"],
  ])("%s is refused", (url, rule) => {
    expect(refusalOf(url)).toMatchObject({ param: PARAM, message: `${PARAM} ${rule}` });
  });
});

describe("a PDF", () => {
  const param = "messages[0].content[0].file.file_data";

  test("of a data URL is taken, with its name", () => {
    const url = pdfUrl(200);
    const pdf = readPdf({ url, param, fileName: "a.pdf" });
    expect(pdf).toMatchObject({ kind: "pdf", url, size: null, fileName: "a.pdf" });
    expect(`data:application/pdf;base64,${base64Of(pdf)}`).toBe(url);
  });

  const HEAD = "must be a data URL of a PDF in base64: data:application/pdf;base64,…";
  const DATA = "must be a PDF in base64, from its first bytes on";

  test.each([
    ["an address", "https://example.com/a.pdf", HEAD],
    ["bare base64", Buffer.from("%PDF-1.7").toString("base64"), HEAD],
    ["another type", dataUrl("text/plain", Buffer.from("%PDF-1.7")), HEAD],
    ["other data", dataUrl("application/pdf", Buffer.from("<html>")), DATA],
    ["no data", "data:application/pdf;base64,", DATA],
  ])("that is %s is refused, and the field is named", (_, url, rule) => {
    const message = `${param} ${rule}`;
    expect(refusalBy(() => readPdf({ url, param }))).toMatchObject({ param, message });
  });
});
