/** Which documents must exist, and which must not, after clients have inserted and dropped. */
import { databaseNameOf } from '@shardlab/member'

interface Insertion {
  readonly id: number
  readonly ns: string
  readonly beganMs: number
  /** Infinity: no reply, or not acknowledged. */
  endedMs: number
}

interface Destruction {
  readonly names: readonly string[]
  readonly isRename: boolean
  readonly beganMs: number
  /** Infinity: no reply, so it may happen later. */
  endedMs: number
  succeeded: boolean
}

export class Inserted {
  readonly #insertions: Insertion[] = []
  readonly #destructions: Destruction[] = []

  beginInsert(id: number, ns: string, nowMs: number): Insertion {
    const insertion = { id, ns, beganMs: nowMs, endedMs: Number.POSITIVE_INFINITY }
    this.#insertions.push(insertion)
    return insertion
  }

  beginDestruction(names: readonly string[], isRename: boolean, nowMs: number): Destruction {
    const destruction = { names, isRename, beganMs: nowMs, endedMs: Number.POSITIVE_INFINITY, succeeded: false }
    this.#destructions.push(destruction)
    return destruction
  }

  problems(ns: string, found: readonly number[]): string[] {
    const there = new Set(found)
    const problems: string[] = []
    if (there.size !== found.length) problems.push(`${ns} has documents twice`)
    const concerning = this.#destructions.filter(
      ({ names }) => names.includes(ns) || names.includes(databaseNameOf(ns)),
    )
    const isRenamed = concerning.some(({ isRename }) => isRename)
    for (const { id, ns: of, beganMs, endedMs } of this.#insertions) {
      if (of !== ns) continue
      const isSafe = concerning.every((each) => each.endedMs < beganMs)
      if (isSafe && Number.isFinite(endedMs) && !there.has(id))
        problems.push(`${ns} lacks the acknowledged document ${id}`)
      const isDropped = concerning.some((each) => !each.isRename && each.succeeded && endedMs < each.beganMs)
      if (isDropped && !isRenamed && there.has(id)) problems.push(`${ns} has document ${id}, which was dropped`)
    }
    return problems
  }
}
