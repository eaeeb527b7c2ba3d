// The session of this page. When it ends, requests wait until the user signs in again as the same account, here or in
// another tab, so that nothing typed is lost.

export type Member = { id: string; email: string };

export type SessionState =
  | { kind: "active" }
  /** Signed out or expired. `isAsking`: the user is asked to sign in again, and requests wait. */
  | { kind: "ended"; isAsking: boolean }
  /** This browser is signed in as another account now. */
  | { kind: "other"; email: string; isAsking: boolean };

/** What tabs tell each other: the account of a new session, or null for none. */
type Message = { account: Member | null };

/** A BroadcastChannel. */
type Tabs = {
  onmessage: ((event: { data: Message }) => void) | null;
  postMessage: (message: Message) => void;
};

const active: SessionState = { kind: "active" };

export class PageSession {
  /** Undefined: nobody has signed in on this page, so requests fail as usual. */
  #member: Member | undefined;
  #state = active;
  /** Increases when the session becomes active again. */
  #round = 0;
  readonly #waiting = new Set<(isActive: boolean) => void>();
  readonly #listeners = new Set<() => void>();
  readonly #openTabs: () => Tabs;
  #tabs: Tabs | undefined;

  constructor(openTabs: () => Tabs = () => new BroadcastChannel("session") as unknown as Tabs) {
    this.#openTabs = openTabs;
  }

  get member(): Member | undefined {
    return this.#member;
  }

  get state(): SessionState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Takes the account that the browser is signed in as now. False: the page belongs to another account. */
  saw(account: Member | null): boolean {
    if (this.#member === undefined) {
      if (account) {
        this.#member = pick(account);
        this.#tell(this.#member);
      }
      return true;
    }
    if (account?.id === this.#member.id) this.#revive();
    else if (account) this.#set({ kind: "other", email: account.email, isAsking: true });
    else this.#end();
    return account?.id === this.#member.id;
  }

  /** After signing in again on this page. */
  signedIn(account: Member): void {
    this.#tell(pick(account));
    this.saw(account);
  }

  /**
   * The user signed out on this page, which may stay open because of unsaved changes: then saving them asks to sign in
   * again.
   */
  signingOut(): void {
    this.#tell(null);
    this.#set({ kind: "ended", isAsking: false });
    this.#release(false);
  }

  /** The page belongs to no account any more: it shows nothing of one, or the account was deleted. */
  signedOut(): void {
    if (this.#member && this.#state.kind === "active") this.#tell(null);
    this.#member = undefined;
    this.#set(active);
    this.#release(false);
  }

  /** The user does not sign in again now: waiting requests fail, and the next change asks again. */
  dismiss(): void {
    if (this.#state.kind !== "active") this.#set({ ...this.#state, isAsking: false });
    this.#release(false);
  }

  /**
   * Sends a request, and once more after signing in again if it was answered 401. `attempt` must be repeatable. Rejects if
   * the signal is aborted. `isBackground`: sent by the page itself.
   */
  async send(
    attempt: () => Promise<Response>,
    { isBackground, signal }: { isBackground: boolean; signal?: AbortSignal | undefined },
  ): Promise<Response> {
    for (;;) {
      // With the cookie of another account, a change could be made in that account.
      if (this.#state.kind === "other" && !(await this.#wait(isBackground, signal))) return signedOutAnswer();
      const round = this.#round;
      const response = await attempt();
      if (response.status !== 401 || !this.#member) return response;
      // Sent before the user signed in again, and answered after.
      if (round !== this.#round) continue;
      if (this.#state.kind === "active") this.#end();
      if (!(await this.#wait(isBackground, signal))) return response;
    }
  }

  /** Whether the session is active again. Background requests do not ask a user who has just dismissed the question. */
  #wait(isBackground: boolean, signal: AbortSignal | undefined): Promise<boolean> {
    const state = this.#state;
    if (state.kind === "active") return Promise.resolve(true);
    if (!state.isAsking && isBackground) return Promise.resolve(false);
    if (!state.isAsking) this.#set({ ...state, isAsking: true });
    return new Promise((resolve, reject) => {
      const done = (isActive: boolean) => {
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(done);
        resolve(isActive);
      };
      const abort = () => {
        this.#waiting.delete(done);
        reject(signal!.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.add(done);
    });
  }

  #end(): void {
    if (this.#state.kind !== "ended") this.#set({ kind: "ended", isAsking: true });
  }

  #revive(): void {
    if (this.#state.kind === "active") return;
    this.#round++;
    this.#set(active);
    this.#release(true);
  }

  #release(isActive: boolean): void {
    for (const done of [...this.#waiting]) done(isActive);
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  #tell(account: Member | null): void {
    if (!this.#tabs) {
      this.#tabs = this.#openTabs();
      this.#tabs.onmessage = ({ data }) => {
        if (this.#member) this.saw(data.account);
      };
    }
    this.#tabs.postMessage({ account });
  }
}

function pick({ id, email }: Member): Member {
  return { id, email };
}

function signedOutAnswer(): Response {
  const body = { code: "UNAUTHORIZED", message: "This browser is signed in as another account." };
  return Response.json(body, { status: 401 });
}

export const pageSession = new PageSession();
