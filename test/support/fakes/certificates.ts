// Makes a certificate authority for one test, and a certificate that it issued for 127.0.0.1.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Creates the files in a folder with openssl. */
export function makeCertificates(folder: string): Certificates {
  const file = (name: string) => join(folder, name);
  const files = { ca: file("ca.pem"), cert: file("cert.pem"), key: file("key.pem") };
  const run = (...args: string[]) => {
    const made = spawnSync("openssl", args, { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`openssl failed: ${made.stderr}`);
  };
  const newKey = ["-newkey", "rsa:2048", "-nodes"];
  const caKey = file("ca-key.pem");
  run(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    caKey,
    "-out",
    files.ca,
    "-subj",
    "/CN=Farebox test authority",
    "-days",
    "2",
  );
  const request = file("request.pem");
  run("req", ...newKey, "-keyout", files.key, "-out", request, "-subj", "/CN=127.0.0.1");
  const extensions = file("extensions.cnf");
  writeFileSync(extensions, "subjectAltName=IP:127.0.0.1\n");
  run(
    "x509",
    "-req",
    "-in",
    request,
    "-CA",
    files.ca,
    "-CAkey",
    caKey,
    "-CAcreateserial",
    "-out",
    files.cert,
    "-days",
    "2",
    "-extfile",
    extensions,
  );
  return files;
}
