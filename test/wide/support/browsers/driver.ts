// What the tests in Firefox and WebKitGTK need of a browser, whichever WebDriver protocol it speaks.

export type Size = { width: number; height: number };

/** Input as WebDriver and WebDriver BiDi both define it. */
export type InputSource = {
  type: "key" | "pointer";
  id: string;
  parameters?: { pointerType: "mouse" };
  actions: object[];
};

/** A browser with one window and an empty profile. */
export type Driver = {
  /** With its version. */
  name: string;
  /** Resolves once the page has loaded. */
  goto(url: string): Promise<void>;
  /** Calls the JavaScript function `source` in the page. Its arguments and result are JSON. */
  call<T>(source: string, ...args: unknown[]): Promise<T>;
  perform(sources: InputSource[]): Promise<void>;
  /** Of the page, without the window's own bars. */
  resize(size: Size): Promise<void>;
  /** PNG */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
};
