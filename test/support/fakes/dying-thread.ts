// A thread that throws an error at its first message.

declare const self: Worker;

self.onmessage = () => {
  throw new Error("The thread of a test ends");
};

export {};
