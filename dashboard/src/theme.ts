// The look of the pages as Mantine's theme. The colours themselves are CSS variables of
// styles/tokens.css; here Mantine learns to use them.

import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
} from "@mantine/core";
import { BRAND } from "./brand.ts";
import { t } from "./texts.ts";

/** Also read by page.html before the first paint. */
export const schemeManager = localStorageColorSchemeManager({ key: "farebox-scheme" });

const ACCENT: MantineColorsTuple = [
  "#e3f3ed",
  "#c3e5d8",
  "#94d1ba",
  "#63bf9d",
  "#39b58a",
  "#229b73",
  "#148660",
  "#0f785a",
  "#0b6b50",
  "#075340",
];

const RED: MantineColorsTuple = [
  "#fbe9e7",
  "#f5cdc9",
  "#f2aca5",
  "#f08b81",
  "#ef6a5f",
  "#db5348",
  "#cd4439",
  "#c0362c",
  "#b02f26",
  "#8f241c",
];

/** The greys of the dark scheme: text, lines, fields, panels, ground. */
const DARK: MantineColorsTuple = [
  "#e9ecef",
  "#c5cbd1",
  "#a0a8b0",
  "#7d868f",
  "#3a424a",
  "#2a3036",
  "#1c2126",
  "#171b1f",
  "#12161a",
  "#0c0f12",
];

/** The server sends ten. */
const shades = BRAND.shades as MantineColorsTuple | null;

export const theme = createTheme({
  colors: { accent: shades ?? ACCENT, red: RED, dark: DARK },
  primaryColor: "accent",
  primaryShade: { light: 8, dark: 4 },
  autoContrast: true,
  luminanceThreshold: 0.3,
  defaultRadius: 8,
  fontFamily: "var(--fb-sans)",
  fontFamilyMonospace: "var(--fb-mono)",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  headings: { fontFamily: "var(--fb-sans)", fontWeight: "650" },
  cursorType: "pointer",
  components: {
    Modal: { defaultProps: { closeButtonProps: { "aria-label": t.actions.close }, radius: 11 } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": t.actions.close } } },
    Tooltip: {
      defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } },
    },
    Button: { defaultProps: { size: "sm", variant: "filled" } },
    TextInput: { defaultProps: { size: "sm" } },
    PasswordInput: { defaultProps: { size: "sm" } },
    Select: { defaultProps: { size: "sm", allowDeselect: false, checkIconPosition: "right" } },
  },
});

const SHARED = {
  "--mantine-color-text": "var(--fb-ink)",
  "--mantine-color-body": "var(--fb-panel)",
  "--mantine-color-dimmed": "var(--fb-dim)",
  "--mantine-color-placeholder": "var(--fb-dim)",
  "--mantine-color-error": "var(--fb-owed)",
  "--mantine-color-anchor": "var(--fb-accent)",
  "--mantine-color-default": "var(--fb-panel)",
  "--mantine-color-default-hover": "var(--fb-hover)",
  "--mantine-color-default-color": "var(--fb-ink)",
  "--mantine-color-default-border": "var(--fb-line)",
};

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: SHARED,
  dark: SHARED,
});
