// A thread that hears everything and answers nothing.

declare const self: Worker;

self.onmessage = () => {};

export {};
