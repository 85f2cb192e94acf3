// The support of images and PDFs by each known provider.

import type { ProviderMedia } from "./catalogue.ts";
import type { PresetName } from "./provider-presets.ts";

const TEXT_ONLY: ProviderMedia = { kinds: [], fetchesAddresses: false, hasKnownRules: false };
const IMAGES: ProviderMedia = {
  kinds: ["image"],
  fetchesAddresses: true,
  hasKnownRules: true,
};
/** Other makers' models, or names that the operator gives. */
const IMAGES_BY_ANY_RULE: ProviderMedia = { ...IMAGES, hasKnownRules: false };
const IMAGES_AND_PDFS: ProviderMedia = { ...IMAGES, kinds: ["image", "pdf"] };
/** Addresses there mean files of the operator's own account. */
const WITHOUT_ADDRESSES: ProviderMedia = { ...IMAGES_AND_PDFS, fetchesAddresses: false };

/** By the name in `provider` of the configuration. */
export const PROVIDER_MEDIA: Readonly<Record<PresetName, ProviderMedia>> = {
  // A server of the operator's own could be sent to hosts of the operator's network (D-644).
  "openai-compatible": { ...WITHOUT_ADDRESSES, hasKnownRules: false, givesImages: true },
  "amazon-bedrock": WITHOUT_ADDRESSES,
  anthropic: IMAGES_AND_PDFS,
  azure: IMAGES_BY_ANY_RULE,
  cohere: IMAGES_BY_ANY_RULE,
  deepseek: TEXT_ONLY,
  google: { ...WITHOUT_ADDRESSES, givesImages: true },
  "google-vertex": { ...WITHOUT_ADDRESSES, givesImages: true },
  groq: IMAGES_BY_ANY_RULE,
  mistral: IMAGES,
  openai: IMAGES_AND_PDFS,
  "openai-responses": IMAGES_AND_PDFS,
  // A PDF there can cost a fee of its reader besides the tokens.
  openrouter: { ...IMAGES, givesImages: true },
  xai: IMAGES,
};
