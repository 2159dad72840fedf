import type { Document } from '@shardlab/bson'

/** Values of each field. */
type Fields = Map<string, Set<string>>

/**
 * States of each document after each event of a change stream. Since an event may be about an
 * orphan, the document need not have the last of these states; but some event gave each of its
 * fields its value.
 */
export class PastStates {
  /** By namespace and `_id`. */
  readonly #collections = new Map<string, Map<string, Fields>>()

  add(ns: string, document: Document): void {
    const documents = this.#collections.get(ns) ?? new Map<string, Fields>()
    this.#collections.set(ns, documents)
    const key = keyOf(document['_id'])
    const fields: Fields = documents.get(key) ?? new Map()
    documents.set(key, fields)
    for (const [name, value] of Object.entries(document))
      fields.set(name, (fields.get(name) ?? new Set()).add(keyOf(value)))
  }

  has(ns: string, id: unknown): boolean {
    return this.#collections.get(ns)?.has(keyOf(id)) === true
  }

  explains(ns: string, document: Document): boolean {
    const fields = this.#collections.get(ns)?.get(keyOf(document['_id']))
    return Object.entries(document).every(([name, value]) => fields?.get(name)?.has(keyOf(value)) === true)
  }

  drop(ns: string): void {
    this.#collections.delete(ns)
  }

  rename(ns: string, to: string): void {
    const documents = this.#collections.get(ns)
    if (documents === undefined) return
    this.#collections.delete(ns)
    this.#collections.set(to, documents)
  }
}

export const keyOf = (value: unknown): string => JSON.stringify(value) ?? ''
