import { createDeferred, type ActorContext, type Deferred } from '@shardlab/actor'
import { emptyDocument, type DocumentWriter } from '@shardlab/bson'
import { FailPointKind, type FailPointMode } from './fail-point-mode.js'

/** How long somebody who waits at a fail point looks away before he counts again. Server: FailPoint::kWaitGranularity. */
const waitGranularityMs = 100

/** One place at which a member can be made to fail. Server: fail_point.h, fail_point.cpp; docs/fail_points.md. */
export class FailPoint {
  readonly name: string
  /** Between 0 and 1: what decides in the mode `activationProbability`. */
  readonly #fraction: () => number
  #kind: FailPointKind = FailPointKind.off
  #data: Uint8Array = emptyDocument
  #value = 0
  #active = false
  #timesEntered = 0
  /** Resolved when the mode changes. */
  #changed: Deferred<void> | null = null

  constructor(name: string, fraction: () => number) {
    this.name = name
    this.#fraction = fraction
  }

  get active(): boolean {
    return this.#active
  }

  /** How often it has struck since the member began. */
  get timesEntered(): number {
    return this.#timesEntered
  }

  set({ kind, value, data }: FailPointMode): void {
    this.#kind = kind
    this.#value = value
    this.#data = data
    this.#active = kind !== FailPointKind.off
    this.#changed?.resolve()
    this.#changed = null
  }

  /**
   * Passes the fail point.
   * @param concerns whether these data mean the one who passes; where they do not, the pass does not count
   * @returns the data when it strikes, else null
   */
  enter(concerns?: (data: Uint8Array) => boolean): Uint8Array | null {
    if (!this.#strikes(concerns)) return null
    this.#timesEntered++
    return this.#data
  }

  /** Waits at the fail point for as long as it strikes; one stay counts once. Server: FailPoint::pauseWhileSet. */
  async pause(context: ActorContext): Promise<void> {
    for (let first = true; this.#strikes(); first = false) {
      if (first) this.#timesEntered++
      // Nothing but another mode ends these two.
      if (this.#kind === FailPointKind.alwaysOn || this.#kind === FailPointKind.skip)
        await (this.#changed ??= createDeferred()).promise
      else await context.sleep(waitGranularityMs)
    }
  }

  /** Appends `{ mode, data, timesEntered }`. Server: FailPoint::toBSON. */
  write(writer: DocumentWriter, field: string, counts: boolean): void {
    writer.startDocument(field).int32('mode', this.#kind).document('data', this.#data)
    if (counts) writer.int64('timesEntered', this.#timesEntered)
    writer.end()
  }

  #strikes(concerns?: (data: Uint8Array) => boolean): boolean {
    if (!this.#active || concerns?.(this.#data) === false) return false
    switch (this.#kind) {
      case FailPointKind.random:
        return this.#fraction() < this.#value
      case FailPointKind.times:
        if (--this.#value <= 0) this.#active = false
        return true
      case FailPointKind.skip:
        return this.#value <= 0 || --this.#value < 0
      default:
        return true
    }
  }
}
