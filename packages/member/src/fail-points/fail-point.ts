import { createDeferred, type ActorContext, type Deferred } from '@shardlab/actor'
import { emptyDocument, type DocumentWriter } from '@shardlab/bson'
import { FailPointKind, type FailPointMode } from './fail-point-mode.js'

/** Interval at which a blocked caller counts another pass. Server: FailPoint::kWaitGranularity. */
const waitGranularityMs = 100

/** Server: fail_point.h, fail_point.cpp; docs/fail_points.md. */
export class FailPoint {
  readonly name: string
  /** From 0 to 1, for the mode `activationProbability`. */
  readonly #fraction: () => number
  #kind: FailPointKind = FailPointKind.off
  #data: Uint8Array = emptyDocument
  #value = 0
  #active = false
  #timesEntered = 0
  #changed: Deferred<void> | null = null

  constructor(name: string, fraction: () => number) {
    this.name = name
    this.#fraction = fraction
  }

  get active(): boolean {
    return this.#active
  }

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
   * @param matches whether the data select the caller; a pass that they do not select does not
   *   count
   * @returns the data when the fail point is active for this pass, else null
   */
  enter(matches?: (data: Uint8Array) => boolean): Uint8Array | null {
    if (!this.#activates(matches)) return null
    this.#timesEntered++
    return this.#data
  }

  /** One wait counts once. Server: FailPoint::pauseWhileSet. */
  async pause(context: ActorContext): Promise<void> {
    for (let first = true; this.#activates(); first = false) {
      if (first) this.#timesEntered++
      // Only a change of the mode ends these two modes.
      if (this.#kind === FailPointKind.alwaysOn || this.#kind === FailPointKind.skip)
        await (this.#changed ??= createDeferred()).promise
      else await context.sleep(waitGranularityMs)
    }
  }

  /** Server: FailPoint::toBSON. */
  write(writer: DocumentWriter, field: string, counts: boolean): void {
    writer.startDocument(field).int32('mode', this.#kind).document('data', this.#data)
    if (counts) writer.int64('timesEntered', this.#timesEntered)
    writer.end()
  }

  #activates(matches?: (data: Uint8Array) => boolean): boolean {
    if (!this.#active || matches?.(this.#data) === false) return false
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
