/**
 * One client's knowledge of the documents that only it writes. If an outcome is unknown, it keeps
 * all possible states.
 */
import type { Document } from '@shardlab/bson'
import { finding, type Finding } from '../finding.js'

/** A document whose writes were all acknowledged. */
export interface Known {
  readonly _id: number
  readonly k: number
  readonly r: number
  readonly n: number
}

interface Entry {
  readonly presence: 'yes' | 'no' | 'maybe'
  readonly least: number
  readonly most: number
  /** Possible values of k. */
  readonly keys: readonly number[]
}

export type DifferenceKind = 'missing' | 'doubled' | 'resurrected' | 'changed'

export interface Difference extends Finding {
  readonly kind: DifferenceKind
}

export class Model {
  readonly name: string
  readonly #entries = new Map<number, Entry>()
  readonly #known = new Map<number, Known>()

  constructor(name: string) {
    this.name = name
  }

  /** Only documents in a known state are written. */
  known(): Known[] {
    return [...this.#known.values()]
  }

  /** Most documents that may exist besides the known ones. */
  get uncertain(): number {
    let count = 0
    for (const [id, { presence }] of this.#entries) if (presence !== 'no' && !this.#known.has(id)) count++
    return count
  }

  is(document: Known): void {
    const { _id, k, n } = document
    this.#known.set(_id, document)
    this.#entries.set(_id, { presence: 'yes', least: n, most: n, keys: [k] })
  }

  isGone(_id: number): void {
    this.#known.delete(_id)
    this.#entries.set(_id, { presence: 'no', least: 0, most: 0, keys: [] })
  }

  /**
   * A write ran up to `times` times more than once. The document is not written any more.
   * @param after its state after one time; of a delete, its state before
   * @param isDone false: it may also have failed
   */
  mayHaveRepeated(after: Known, times: number, isDone: boolean, isDelete: boolean): void {
    const { _id, k, n } = after
    if (!isDone) return this.mayBe(_id, after, { ...after, n: n + times })
    if (isDelete) return this.isGone(_id)
    this.#known.delete(_id)
    this.#entries.set(_id, { presence: 'yes', least: n, most: n + times, keys: [k] })
  }

  /**
   * The document is unchanged or in one of these states; null: absent. It is not written any more.
   */
  mayBe(_id: number, ...states: readonly (Known | null)[]): void {
    const all = [this.#known.get(_id) ?? null, ...states]
    this.#known.delete(_id)
    const there = all.filter((state) => state !== null)
    this.#entries.set(_id, {
      presence: there.length === all.length ? 'yes' : 'maybe',
      least: Math.min(...there.map(({ n }) => n)),
      most: Math.max(...there.map(({ n }) => n)),
      keys: there.map(({ k }) => k),
    })
  }

  /** `unseen` documents may be missing. */
  differences(documents: readonly Document[], where: string, unseen: ReadonlySet<number> = new Set()): Difference[] {
    const wrong: Difference[] = []
    const note = (kind: DifferenceKind, _id: number, what: string) =>
      wrong.push({ kind, ...finding(`${where}: ${this.name} ${_id} ${what}`, `app.${this.name}`, _id) })
    const counts = new Map<number, number>()
    for (const document of documents) {
      const _id = document['_id'] as number
      const { n, k } = document as unknown as Known
      counts.set(_id, (counts.get(_id) ?? 0) + 1)
      const entry = this.#entries.get(_id)
      if (entry === undefined) note('resurrected', _id, 'was never written')
      else if (entry.presence === 'no') note('resurrected', _id, 'was deleted and is there')
      else if (!entry.keys.includes(k)) note('changed', _id, `has k: ${k}, not ${entry.keys.join(' or ')}`)
      else if (n < entry.least || n > entry.most)
        note('changed', _id, `has n: ${n}, not ${entry.least} to ${entry.most}`)
    }
    for (const [_id, count] of counts) if (count > 1) note('doubled', _id, `is there ${count} times`)
    for (const [_id, { presence }] of this.#entries)
      if (presence === 'yes' && !counts.has(_id) && !unseen.has(_id))
        note('missing', _id, 'was acknowledged and is gone')
    return wrong
  }
}
