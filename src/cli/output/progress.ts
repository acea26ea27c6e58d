/** Shows progress as one line on a terminal, and nothing elsewhere. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

export function terminalProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} };
  const erase = "\r\u001b[K";
  return {
    show: (text) => stream.write(`${erase}${text.slice(0, stream.columns - 1)}`),
    clear: () => stream.write(erase),
  };
}
