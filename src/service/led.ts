// What an HTTP process knows of the others of its machine: what the process that leads told it last, and when.
import type { MachineHealth } from "../http/frame/machine.ts";

/** How often the process that leads asks each HTTP process whether it is alive, and says how many serve. */
export const aliveEveryMs = 10_000;
/** After as long, an HTTP process that answers nothing is taken for hanging, too. */
const silentMaxMs = 3 * aliveEveryMs;

export class Led {
  readonly #processes: number;
  #serving: number | undefined;
  #heardAt = performance.now();

  /** `processes`: how many there should be. */
  constructor(processes: number) {
    this.#processes = processes;
  }

  /** Call it with each message: how many HTTP processes serve now. */
  hear(serving: number): void {
    this.#serving = serving;
    this.#heardAt = performance.now();
  }

  health(nowMs = performance.now()): MachineHealth {
    return {
      processes: this.#processes,
      // The first message comes when this one serves.
      serving: this.#serving ?? this.#processes,
      isLed: nowMs - this.#heardAt <= silentMaxMs,
    };
  }
}
