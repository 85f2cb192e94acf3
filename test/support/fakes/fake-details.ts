/**
 * Makes the parts of a fake upstream's reply besides text: known fields, invalid values, and
 * secrets.
 */
export function replyDetails(usage: object, secret: string) {
  const none = { token: "No", logprob: -2.5, bytes: [78, 111] };
  const token = { token: "Yes", logprob: -0.25, bytes: null, top_logprobs: [none], secret };
  const logprobs = { content: [token, "x", { token: 5 }], refusal: null, secret };
  const completion_tokens_details = { reasoning_tokens: 3, audio_tokens: -1, other: 1, secret };
  const message = { role: "assistant", content: "Yes" };
  const head = { system_fingerprint: "fp_44709d6fcb" };
  return {
    head,
    choice: { index: 0, message, delta: message, logprobs, finish_reason: null },
    last: { ...head, usage: { ...usage, completion_tokens_details } },
  };
}
