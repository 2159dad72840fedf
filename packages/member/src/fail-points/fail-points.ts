/** Server: fail_point.cpp, FailPointRegistry. */
import type { ActorContext, Random } from '@shardlab/actor'
import { CommandError, emptyDocument } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { FailPointKind, parseFailPointMode } from './fail-point-mode.js'
import { FailPoint } from './fail-point.js'
import { failPointTable, type FailPointName, type FailPointRow } from './fail-point-table.js'

export interface FailPointOwner {
  readonly process: 'mongos' | 'mongod'
  readonly behaviours: Behaviours
}

interface AtStep extends Pick<FailPointRow, 'action' | 'detail'> {
  readonly failPoint: FailPoint
}

interface Built {
  readonly points: ReadonlyMap<string, FailPoint>
  readonly steps: ReadonlyMap<string, readonly AtStep[]>
}

type Detail = Readonly<Record<string, unknown>>

export class FailPoints {
  /** While no fail point is on, evaluating one costs one test of this flag. */
  active = false
  readonly #owner: FailPointOwner
  readonly #dice: Random
  /** Null until first used: few members have a fail point set. */
  #built: Built | null = null

  /** @param random of the member; the mode `activationProbability` uses a fork of it */
  constructor(owner: FailPointOwner, random: Random) {
    this.#owner = owner
    this.#dice = random.fork('fail-points')
  }

  [Symbol.iterator](): IterableIterator<FailPoint> {
    return this.#all().points.values()
  }

  /** @throws CommandError 266 FailPointSetFailed for an unknown name */
  get(name: string): FailPoint {
    const failPoint = this.#all().points.get(name)
    if (failPoint === undefined) throw new CommandError('FailPointSetFailed', `${name} not found`)
    return failPoint
  }

  /**
   * @returns activations before the change
   * @throws CommandError 266 FailPointSetFailed, and those of {@link parseFailPointMode}
   */
  configure(name: string, body: Uint8Array): number {
    const failPoint = this.get(name)
    const mode = parseFailPointMode(body, this.#owner.behaviours.failPointCounts)
    const count = failPoint.timesEntered
    failPoint.set(mode)
    this.#note()
    return count
  }

  /** {@link FailPoint.enter} by name; null: inactive, or this member does not have it. */
  enter(name: FailPointName, matches?: (data: Uint8Array) => boolean): Uint8Array | null {
    const failPoint = this.active ? this.#all().points.get(name) : undefined
    if (failPoint === undefined) return null
    const data = failPoint.enter(matches)
    if (!failPoint.active) this.#note()
    return data
  }

  /** Blocks or fails. @throws CommandError the error of the server */
  async reach(step: string, details: Detail, context: ActorContext): Promise<void> {
    for (const { failPoint, action, detail } of this.#all().steps.get(step) ?? []) {
      if (detail !== null && details[detail[0]] !== detail[1]) continue
      if (action === 'hold') await failPoint.pause(context)
      else if (failPoint.enter() !== null) throw new CommandError(action.code, action.message)
    }
  }

  /** Called when the member shuts down; resumes blocked callers. */
  stop(): void {
    for (const failPoint of this.#built?.points.values() ?? [])
      failPoint.set({ kind: FailPointKind.off, value: 0, data: emptyDocument })
    this.active = false
  }

  #note(): void {
    this.active = [...this].some((each) => each.active)
  }

  #all(): Built {
    return (this.#built ??= build(this.#owner, this.#dice))
  }
}

function build(owner: FailPointOwner, dice: Random): Built {
  const points = new Map<string, FailPoint>()
  const steps = new Map<string, AtStep[]>()
  for (const { name, only, behaviour, step, action, detail } of failPointTable as readonly FailPointRow[]) {
    if (only !== null && only !== owner.process) continue
    if (behaviour !== null && !owner.behaviours[behaviour]) continue
    const failPoint = new FailPoint(name, () => dice.fraction())
    points.set(name, failPoint)
    if (step !== null) steps.set(step, [...(steps.get(step) ?? []), { failPoint, action, detail }])
  }
  return { points, steps }
}
