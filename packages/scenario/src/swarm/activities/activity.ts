import type { ActivityName } from '../types.js'
import type { SwarmWorld } from '../world.js'

export abstract class Activity {
  abstract readonly name: ActivityName
  protected readonly world: SwarmWorld
  readonly #done = new Map<string, number>()

  constructor(world: SwarmWorld) {
    this.world = world
  }

  get done(): ReadonlyMap<string, number> {
    return this.#done
  }

  /** Called before any fault. */
  async prepare(): Promise<void> {}

  /** Runs while clients work, or is such a client. @throws WrongAnswerError */
  abstract run(): Promise<void>

  /** Called after all faults are healed; reports violations. */
  async finish(): Promise<void> {}

  protected count(name: string): void {
    this.#done.set(name, (this.#done.get(name) ?? 0) + 1)
  }
}
