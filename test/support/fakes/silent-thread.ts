// Receives messages in a thread but never answers.

declare const self: Worker;

self.onmessage = () => {};

export {};
