/** One kind of thing that happens in a run. */
import type { ActivityName } from '../types.js'
import type { SwarmWorld } from '../world.js'

export abstract class Activity {
  abstract readonly name: ActivityName
  protected readonly world: SwarmWorld
  readonly #done = new Map<string, number>()

  constructor(world: SwarmWorld) {
    this.world = world
  }

  /** By name: how often what was done. */
  get done(): ReadonlyMap<string, number> {
    return this.#done
  }

  /** Before anything goes wrong. */
  async prepare(): Promise<void> {}

  /** Goes on as long as clients are at work, or is such a client. @throws WrongAnswerError */
  abstract run(): Promise<void>

  /** When all is healed: what is wrong goes to the verdicts. */
  async finish(): Promise<void> {}

  protected count(name: string): void {
    this.#done.set(name, (this.#done.get(name) ?? 0) + 1)
  }
}
