/** Takes shards in turn, so that no shard gets all actions at once. */
import type { Action, DefragmentationMove, MoveOutcome, Outcome, Phase, PhaseName } from './phase.js'

export abstract class ActionPhase implements Phase {
  abstract readonly name: PhaseName
  #next: PhaseName
  #aborted = false
  #begun = 0
  readonly #waiting = new Map<string, Action[]>()

  constructor(next: PhaseName) {
    this.#next = next
  }

  get next(): PhaseName {
    return this.#next
  }

  get isComplete(): boolean {
    return this.#begun === 0 && this.#waiting.size === 0
  }

  get remaining(): number {
    return [...this.#waiting.values()].reduce((sum, actions) => sum + actions.length, this.#begun)
  }

  protected add(action: Action): void {
    const actions = this.#waiting.get(action.shard)
    if (actions === undefined) this.#waiting.set(action.shard, [action])
    else actions.push(action)
  }

  nextAction(): Action | null {
    const [first] = this.#waiting
    if (first === undefined) return null
    const [shard, actions] = first
    const action = actions.shift()!
    this.#waiting.delete(shard)
    if (actions.length > 0) this.#waiting.set(shard, actions)
    this.#begun++
    return action
  }

  applied(action: Action, outcome: Outcome): void {
    this.#begun--
    if (this.#aborted) return
    if (outcome.status === 'retry') this.add(action)
    else if (outcome.status === 'failed') this.abort(this.name)
    else this.succeeded(action, outcome.points)
  }

  protected abstract succeeded(action: Action, points: readonly Uint8Array[]): void

  nextMove(_available: Set<string>): DefragmentationMove | null {
    return null
  }

  moved(_move: DefragmentationMove, _outcome: MoveOutcome): void {}

  abort(next: PhaseName): void {
    this.#aborted = true
    this.#next = next
    this.#waiting.clear()
  }
}
