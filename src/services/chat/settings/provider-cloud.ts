// Reads the credentials of a cloud in an entry of `providers`.

import { createPrivateKey } from "node:crypto";
import type { SectionContext } from "../../../core/configuration/section.ts";
import type { CloudAccess, ServiceAccount } from "../models/catalogue.ts";
import type { ProviderFile } from "./provider-schema.ts";

const TOKEN_URI = "https://oauth2.googleapis.com/token";
/** Places of Google that stand for several regions. */
const GOOGLE_HOSTS: Readonly<Record<string, string>> = {
  global: "aiplatform.googleapis.com",
  eu: "aiplatform.eu.rep.googleapis.com",
  us: "aiplatform.us.rep.googleapis.com",
};

/** The region of a cloud, with the credentials that the entry names. */
export function cloudOf(
  file: ProviderFile,
  pointer: string,
  { keys, refuse }: Pick<SectionContext, "keys" | "refuse">,
): CloudAccess {
  const required = (field: "region" | "project" | "service_account_env") =>
    file[field] ?? refuse(`${pointer}/${field}`, `is missing: ${file.provider} needs it`);
  const region = required("region");
  if (file.provider === "google-vertex") {
    required("project");
    const text = keys.textOf(pointer, required("service_account_env"), "service_account_env");
    if (text === null) return { region };
    const problem = "must name the key file of a service account, as Google writes it";
    const account = serviceAccountIn(text);
    return { region, serviceAccount: account ?? refuse(`${pointer}/service_account_env`, problem) };
  }
  return { region, ...awsKeysOf(file, pointer, { keys, refuse }) };
}

/** A key of Bedrock, or the two parts of an access key. */
function awsKeysOf(
  file: ProviderFile,
  pointer: string,
  { keys, refuse }: Pick<SectionContext, "keys" | "refuse">,
): Pick<CloudAccess, "awsKeys"> {
  const { access_key_id_env: id, secret_access_key_env: secret, session_token_env: token } = file;
  if (file.api_key_env !== undefined) return {};
  if (id === undefined || secret === undefined) {
    const fields = "access_key_id_env and secret_access_key_env";
    refuse(`${pointer}/api_key_env`, `is missing: ${file.provider} needs it, or ${fields}`);
  }
  const accessKeyId = keys.of(pointer, id, "access_key_id_env") ?? "";
  const secretAccessKey = keys.of(pointer, secret, "secret_access_key_env") ?? "";
  const sessionToken = keys.of(pointer, token, "session_token_env");
  return { awsKeys: { accessKeyId, secretAccessKey, sessionToken } };
}

/** The service account in a key file; null if the text is none. */
function serviceAccountIn(text: string): ServiceAccount | null {
  try {
    const file = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { client_email, private_key, private_key_id, token_uri = TOKEN_URI } = file;
    if (typeof client_email !== "string" || typeof private_key !== "string") return null;
    if (typeof token_uri !== "string" || !URL.canParse(token_uri)) return null;
    createPrivateKey(private_key);
    return {
      clientEmail: client_email,
      privateKey: private_key,
      privateKeyId: typeof private_key_id === "string" ? private_key_id : null,
      tokenUri: token_uri,
    };
  } catch {
    return null;
  }
}

/** The address of a preset, with the region and project of the entry in their places. */
export function cloudAddress(
  template: string,
  { region = "", project = "" }: Pick<ProviderFile, "region" | "project">,
): string {
  const host = GOOGLE_HOSTS[region] ?? `${region}-aiplatform.googleapis.com`;
  return template
    .replaceAll("{host}", host)
    .replaceAll("{region}", region)
    .replaceAll("{project}", project);
}
