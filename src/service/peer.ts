// Calls between two processes over their IPC channel, in both directions.

type Message =
  | { type: "call"; id: number; name: string; input: unknown }
  | { type: "answer"; id: number; result?: unknown; error?: string };

/** What the other process may call, by name. */
// biome-ignore lint/suspicious/noExplicitAny: each function knows its own input.
export type Handlers = Record<string, (input: any) => unknown>;

export class Peer {
  readonly #send: (message: Message) => void;
  readonly #handlers: Handlers;
  readonly #open = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #lastId = 0;
  #ended = false;

  /** `send` passes on the error of a channel that is closed. Pass every message of the channel to `receive`. */
  constructor(send: (message: Message, onError: (error: Error | null) => void) => void, handlers: Handlers) {
    this.#send = message => send(message, error => error && this.end());
    this.#handlers = handlers;
  }

  /** Rejects with what the handler threw, or once the channel is closed. */
  call<Result = void>(name: string, input: unknown = null): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(ended());
      const id = ++this.#lastId;
      this.#open.set(id, { resolve, reject });
      this.#send({ type: "call", id, name, input });
    });
  }

  /** Without waiting for the result; nothing happens if the channel is closed. */
  tell(name: string, input: unknown = null): void {
    void this.call(name, input).catch(() => {});
  }

  receive(message: unknown): void {
    const { type, id } = message as Message;
    if (type === "call") void this.#answer(message as Message & { type: "call" });
    else if (type === "answer") {
      const open = this.#open.get(id);
      this.#open.delete(id);
      const { result, error } = message as Message & { type: "answer" };
      if (error === undefined) open?.resolve(result as never);
      else open?.reject(new Error(error));
    }
  }

  /** Rejects the open calls: the other process has ended. */
  end(): void {
    this.#ended = true;
    for (const { reject } of this.#open.values()) reject(ended());
    this.#open.clear();
  }

  async #answer({ id, name, input }: Message & { type: "call" }): Promise<void> {
    const answer: Message = { type: "answer", id };
    try {
      answer.result = await this.#handlers[name]!(input);
    } catch (error) {
      answer.error = (error as Error).message;
    }
    this.#send(answer);
  }
}

function ended(): Error {
  return new Error("The other process has ended.");
}
