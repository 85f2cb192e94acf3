// Lines to copy: keys, commands, snippets.

import { Button, CopyButton } from "@mantine/core";
import { t } from "../texts.ts";

interface CodeProps {
  readonly text: string;
  /** The name of the text, for readers of the screen. */
  readonly label: string;
  /** True for a value, which is broken over lines rather than scrolled. */
  readonly wrap?: boolean;
}

/** Text in a box with a button that copies it. */
export function Code({ text, label, wrap = false }: CodeProps) {
  return (
    <div className="code" {...(wrap && { "data-wrap": "" })}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: an area that scrolls takes the focus */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <div className="code-copy">
        <Copy text={text} label={label} />
      </div>
    </div>
  );
}

interface CopyProps {
  readonly text: string;
  readonly label: string;
  /** The words on the button. */
  readonly name?: string;
}

/** A button that copies, and says that it did. */
export function Copy({ text, label, name = t.actions.copy }: CopyProps) {
  return (
    <CopyButton value={text} timeout={1_600}>
      {({ copied, copy }) => (
        <Button
          size="compact-xs"
          variant="default"
          onClick={copy}
          aria-label={copied ? t.actions.copied : t.pair(name, label)}
        >
          {copied ? t.actions.copied : name}
        </Button>
      )}
    </CopyButton>
  );
}
