// Reads manifests that Helm rendered, and removes the features of Kubernetes that this Podman
// lacks.

/** An object of Kubernetes, as far as it is looked at here. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec: PodSpec };
    readonly [name: string]: unknown;
  };
}

interface PodSpec {
  readonly containers: readonly Readonly<Record<string, unknown>>[];
  readonly volumes?: readonly { readonly secret?: object }[];
  readonly [name: string]: unknown;
}

/** The reason why Podman 4.3 cannot play a field of a container, as it was seen. */
const OF_CONTAINERS: Readonly<Record<string, string>> = {
  startupProbe: "its probes are commands with curl, which no image needs, run by a systemd",
  readinessProbe: "it does not look at it",
  livenessProbe: "its probes are commands with curl, which no image needs, run by a systemd",
  lifecycle: "it does not look at it",
  ports: "it opens each on the machine, so that a second pod ends with: address already in use",
};
const PLAYED = ["Deployment", "ConfigMap", "Job"];

/** Reads the documents that `helm template` writes. */
export function readManifests(text: string): readonly Manifest[] {
  const documents = text.split(/^---$/m).filter((part) => /^kind:/m.test(part));
  return documents.map((document) => Bun.YAML.parse(document) as Manifest);
}

/** The manifests that Podman plays, and a line for each thing that is left out. */
export function forPodman(manifests: readonly Manifest[]): {
  readonly played: readonly Manifest[];
  readonly leftOut: readonly string[];
} {
  const leftOut = new Set<string>();
  const played: Manifest[] = [];
  for (const manifest of manifests) {
    if (!PLAYED.includes(manifest.kind)) {
      leftOut.add(`it plays no ${manifest.kind}`);
      continue;
    }
    if (manifest.kind === "Job") leftOut.add("it plays no Job; its pod was played");
    const { spec } = manifest;
    if (spec?.template === undefined) {
      played.push(manifest);
      continue;
    }
    const template = { ...spec.template, spec: podFor(spec.template.spec, leftOut) };
    played.push({ ...manifest, spec: { ...spec, template } });
  }
  return { played, leftOut: [...leftOut].sort() };
}

function podFor(pod: PodSpec, leftOut: Set<string>): PodSpec {
  const containers = pod.containers.map((container) => {
    const kept = Object.entries(container).filter(([name]) => {
      const why = OF_CONTAINERS[name];
      if (why !== undefined) leftOut.add(`${name}: ${why}`);
      return why === undefined;
    });
    return Object.fromEntries(kept);
  });
  const volumes = (pod.volumes ?? []).map((volume) => {
    if (volume.secret === undefined) return volume;
    leftOut.add("data of a Secret: it mounts them in base64; the Secret was made in another way");
    leftOut.add("a secret without `optional`: panic: invalid memory address, in VolumeFromSecret");
    return { ...volume, secret: { ...volume.secret, optional: false } };
  });
  return { ...pod, containers, volumes };
}
