// Tests that the archive of an image depends on the image alone, not on the container in which it
// was built, of which Podman writes the id and the name into the image.

import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "../../../scripts/deploy/tools.ts";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { writeImageArchive } from "../../../scripts/release/image-archive.ts";
import { digestOf } from "../../../scripts/release/source.ts";

const LAYER = "12ee.tar";
/** Two empty layers, say, are one file, named twice and by a link. */
const LINK = "layer-of-old.tar";
const LAYERS = [LAYER, LINK, LAYER];
const USER = "1000:1000";

/** Writes the archive that `podman save` makes of an image that was built in a container. */
async function save(folder: string, file: string, container: string): Promise<string> {
  const parts = join(folder, container);
  mkdirSync(parts);
  const hidden = { Hostname: container.slice(0, 4) };
  const config = {
    container,
    config: { ...hidden, User: USER },
    container_config: hidden,
    rootfs: { type: "layers", diff_ids: ["sha256:12ee"] },
  };
  const manifest = [{ Config: `${container}.json`, RepoTags: ["localhost/a:1"], Layers: LAYERS }];
  writeFileSync(join(parts, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(parts, `${container}.json`), JSON.stringify(config));
  writeFileSync(join(parts, LAYER), "the files");
  symlinkSync(LAYER, join(parts, LINK));
  await must(["tar", "-cf", file, "-C", parts, "."]);
  return "";
}

test("two builds of the same files are one archive, named by its description", async () => {
  const folder = temporaryFolder("farebox-test-archive-");
  try {
    const archiveOf = async (container: string) => {
      const file = join(folder.path, `of-${container}.tar`);
      const engine = { must: () => save(folder.path, file, container) };
      const id = await writeImageArchive(engine, { image: "a:1", file, epoch: 1_700_000_000 });
      return { id, file, bytes: readFileSync(file) };
    };
    const [one, two] = [await archiveOf("6867486b"), await archiveOf("715eb6b4")];
    expect(one.bytes.equals(two.bytes)).toBe(true);
    const of = (name: string) => must(["tar", "-xOf", one.file, name]);
    const [manifest] = JSON.parse(await of("manifest.json"));
    expect(manifest).toEqual({
      Config: `${one.id}.json`,
      RepoTags: ["localhost/a:1"],
      Layers: LAYERS,
    });
    const config = await of(`${one.id}.json`);
    expect(digestOf(config)).toBe(one.id);
    expect(JSON.parse(config)).toEqual({
      config: { User: USER },
      container_config: {},
      rootfs: { type: "layers", diff_ids: ["sha256:12ee"] },
    });
    for (const layer of LAYERS) expect(await of(layer)).toBe("the files");
  } finally {
    folder.remove();
  }
});
