// Reads the logo of a brand: an SVG picture of shapes and colours alone. A list names all that may
// be in the picture; everything else is refused by its name. The served picture is written anew
// from the parsed one, so no browser can find more in it than this reader (D-760).

import { escapeHtml } from "../text/html.ts";

/** A picture that was checked. */
export interface Logo {
  readonly svg: string;
  /** A digest that changes with the picture. */
  readonly version: string;
}

/** The most bytes of a picture as it is served, and the most characters of the text before. */
export const LOGO_BYTES_MAX = 16_384;
const DEPTH_MAX = 32;

/** SVG 2: shapes, groups, gradients and clips. */
const ELEMENTS: ReadonlySet<string> = new Set([
  ..."svg g defs title desc path rect circle ellipse line polyline polygon".split(" "),
  ..."linearGradient radialGradient stop clipPath".split(" "),
]);
const TEXT_ELEMENTS: ReadonlySet<string> = new Set(["title", "desc"]);
const ATTRIBUTES: ReadonlySet<string> = new Set([
  ..."xmlns version viewBox width height preserveAspectRatio id transform opacity role".split(" "),
  ..."x y x1 y1 x2 y2 cx cy r rx ry d points pathLength".split(" "),
  ..."fill fill-rule fill-opacity clip-path clip-rule color stroke stroke-width".split(" "),
  ..."stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-dasharray".split(" "),
  ..."stroke-dashoffset gradientUnits gradientTransform spreadMethod fx fy fr offset".split(" "),
  ..."stop-color stop-opacity clipPathUnits".split(" "),
]);
const NAMESPACE = "http://www.w3.org/2000/svg";

const DECLARATION = /^<\?xml\s[^?<>]*\?>/;
const COMMENT = /^<!--(?:(?!-->)[\s\S])*-->/;
const CLOSE = /^<\/([A-Za-z][\w.:-]*)\s*>/;
const OPEN = /^<([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/;
const ATTRIBUTE = /([\w.:-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};
/** A reference to a part of the picture itself; any other address is refused. */
const OWN_PART = /url\(\s*#[\w.-]+\s*\)/g;
const PLAIN_VALUE = /^[\p{L}\p{N}\s#%.,()+*/:;_-]*$/u;

class BadLogo extends Error {}

/**
 * Returns the picture, or the reason of its refusal, in words that go on after the field's name.
 */
export function readLogo(text: string): Logo | string {
  const tooLarge = `must have at most ${LOGO_BYTES_MAX} bytes`;
  if (text.length > LOGO_BYTES_MAX) return tooLarge;
  try {
    const svg = new Reader(text.trim()).read();
    if (Buffer.byteLength(svg) > LOGO_BYTES_MAX) return tooLarge;
    return { svg, version: Bun.hash(svg).toString(36) };
  } catch (error) {
    if (error instanceof BadLogo) return error.message;
    throw error;
  }
}

class Reader {
  readonly #open: string[] = [];
  readonly #written: string[] = [];
  #isEnded = false;

  constructor(readonly text: string) {}

  read(): string {
    let rest = this.text.replace(DECLARATION, "");
    while (rest !== "") {
      const used = rest.startsWith("<") ? this.#tag(rest) : this.#text(rest);
      rest = rest.slice(used);
    }
    if (!this.#isEnded) throw new BadLogo("must be one whole <svg> element");
    return this.#written.join("");
  }

  #tag(rest: string): number {
    const comment = COMMENT.exec(rest);
    if (comment !== null) return comment[0].length;
    const close = CLOSE.exec(rest);
    if (close !== null) {
      const [whole, name = ""] = close;
      if (this.#open.at(-1) !== name) throw new BadLogo(`has a </${name}> that closes nothing`);
      this.#close();
      this.#written.push(`</${name}>`);
      return whole.length;
    }
    const open = OPEN.exec(rest);
    if (open === null) throw new BadLogo(`must not have '${rest.slice(0, 24)}': ${ALLOWED}`);
    const [whole, name = "", attributes = "", slash] = open;
    this.#begin(name, attributes, slash === "/");
    return whole.length;
  }

  #begin(name: string, attributes: string, isEmpty: boolean): void {
    const isFirst = this.#written.length === 0;
    if (isFirst !== (name === "svg")) throw new BadLogo("must be one <svg> element, with no other");
    if (!ELEMENTS.has(name)) throw new BadLogo(`must not have a <${name}>: ${ALLOWED}`);
    if (this.#open.length >= DEPTH_MAX) throw new BadLogo(`is deeper than ${DEPTH_MAX} elements`);
    const written = attributesOf(name, attributes);
    if (isFirst && !written.has("viewBox")) throw new BadLogo("must have a viewBox");
    if (isFirst) written.set("xmlns", NAMESPACE);
    const pairs = [...written].map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
    this.#written.push(`<${name}${pairs.join("")}${isEmpty ? "/" : ""}>`);
    this.#open.push(name);
    if (isEmpty) this.#close();
  }

  #close(): void {
    this.#open.pop();
    this.#isEnded = this.#open.length === 0;
  }

  #text(rest: string): number {
    const end = rest.indexOf("<");
    const text = end < 0 ? rest : rest.slice(0, end);
    if (text.trim() === "") return text.length;
    if (!TEXT_ELEMENTS.has(this.#open.at(-1) ?? "")) {
      throw new BadLogo(`must not have text outside of a title: '${text.trim().slice(0, 24)}'`);
    }
    this.#written.push(escapeHtml(decoded(text)));
    return text.length;
  }
}

const ALLOWED = "a logo has shapes, groups and gradients alone, no script, style, text or image";

function attributesOf(element: string, text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", double, single] of text.matchAll(ATTRIBUTE)) {
    const value = decoded(double ?? single ?? "");
    if (!ATTRIBUTES.has(name)) {
      throw new BadLogo(`must not have the attribute '${name}' at <${element}>: ${ALLOWED}`);
    }
    if (found.has(name)) throw new BadLogo(`has the attribute '${name}' twice at <${element}>`);
    const isOutside = value.replaceAll(OWN_PART, "").toLowerCase().includes("url(");
    const isPlain = name === "xmlns" ? value === NAMESPACE : PLAIN_VALUE.test(value);
    if (isOutside || !isPlain) {
      throw new BadLogo(`must not refer outside in the attribute '${name}' at <${element}>`);
    }
    found.set(name, value);
  }
  return found;
}

function decoded(text: string): string {
  return text.replaceAll(/&[^;]{0,12};?/g, (entity) => {
    const letter = ENTITIES[entity];
    if (letter === undefined) throw new BadLogo(`must not have the entity '${entity}'`);
    return letter;
  });
}
