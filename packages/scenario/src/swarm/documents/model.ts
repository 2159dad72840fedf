/**
 * What one client knows of the documents that only it writes: their bounds, as long as it knows
 * what its writes did.
 */
import type { Document } from '@shardlab/bson'

/** A document as it is when every write of it was acknowledged. */
export interface Known {
  readonly _id: number
  readonly k: number
  readonly r: number
  readonly n: number
}

/** What may be true of a document. */
interface Entry {
  readonly presence: 'yes' | 'no' | 'maybe'
  readonly least: number
  readonly most: number
  /** The values that k may have. */
  readonly keys: readonly number[]
}

/** How documents differ from what was acknowledged. */
export type DifferenceKind = 'missing' | 'doubled' | 'resurrected' | 'changed'

export interface Difference {
  readonly kind: DifferenceKind
  readonly sentence: string
}

export class Model {
  readonly name: string
  readonly #entries = new Map<number, Entry>()
  readonly #known = new Map<number, Known>()

  constructor(name: string) {
    this.name = name
  }

  /** Documents of which everything is known; writes go to these. */
  known(): Known[] {
    return [...this.#known.values()]
  }

  /** How many may be there beside them. */
  get uncertain(): number {
    let count = 0
    for (const [id, { presence }] of this.#entries) if (presence !== 'no' && !this.#known.has(id)) count++
    return count
  }

  /** It is there, and so. */
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
   * It is as it was, or as one of these says; null: it is not there. It is left alone from now on.
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

  /**
   * What is wrong with all documents of this client in a collection. `unseen` ones may be missing.
   */
  differences(documents: readonly Document[], where: string, unseen: ReadonlySet<number> = new Set()): Difference[] {
    const wrong: Difference[] = []
    const note = (kind: DifferenceKind, _id: number, what: string) =>
      wrong.push({ kind, sentence: `${where}: ${this.name} ${_id} ${what}` })
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
