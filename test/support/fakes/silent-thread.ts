// A thread that receives messages but never answers.

declare const self: Worker;

self.onmessage = () => {};

export {};
