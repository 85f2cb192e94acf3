// The brand of the installation, as the server wrote it into the page.

import type { PageBrand } from "../../src/core/brand/page-brand.ts";

const { content = "" } = document.querySelector<HTMLMetaElement>('meta[name="brand"]') ?? {};

export const BRAND: PageBrand = JSON.parse(content);
