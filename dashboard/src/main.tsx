// The entry of the pages: their styles, then the texts in the language of the page, then the app.

import "@mantine/core/styles/default-css-variables.layer.css";
import "@mantine/core/styles/baseline.layer.css";
import "@mantine/core/styles/global.layer.css";
import "./styles/mantine.css";
import "./styles/tokens.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "./styles/operator.css";
import "./styles/print.css";
import "uplot/dist/uPlot.min.css";
import { isLanguage } from "../../src/core/languages.ts";
import { loadTexts } from "./texts.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no #root");

/**
 * Loads the texts, then the app, whose modules read the texts; the page preloads both files. This
 * module itself does not wait: the file that it is in may have modules that the app imports.
 */
async function start(place: HTMLElement): Promise<void> {
  const { lang } = document.documentElement;
  await loadTexts(isLanguage(lang) ? lang : "en");
  const { drawApp } = await import("./app.tsx");
  drawApp(place);
  // The page counts its loads that fail until it hears of one that does not.
  window.dispatchEvent(new Event("drawn"));
}

start(root).catch((error: unknown) => {
  // The page reloads after this event, as it does if a script is missing.
  document.querySelector('script[type="module"]')?.dispatchEvent(new Event("error"));
  throw error;
});
