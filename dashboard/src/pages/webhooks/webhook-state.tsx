// The state of a webhook: whether it gets events, and why not.

import type { Webhook } from "../../api/webhooks.ts";
import { Tag } from "../../parts/panel.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

interface WebhookStateProps {
  readonly webhook: Pick<Webhook, "disabled" | "failing_since">;
}

export function WebhookState({ webhook }: WebhookStateProps) {
  const { disabled, failing_since: since } = webhook;
  const words = t.webhooks.state;
  if (disabled === "failing") return <Tag tone="owed">{words.failing24}</Tag>;
  if (disabled !== null) return <Tag tone="owed">{words[disabled]}</Tag>;
  if (since !== null) return <Tag tone="held">{words.failing(dayTime(since))}</Tag>;
  return <Tag tone="paid">{words.on}</Tag>;
}
