/**
 * Change streams: every committed change is returned exactly once, in the order of resume tokens,
 * and for each document in the order of its versions. Before 5.3 also the changes that writes to
 * many documents make to orphans (manual: administration/change-streams-production-recommendations,
 * "Change Streams and Orphan Documents").
 */
import { compareDocuments, encode, type Document } from '@shardlab/bson'
import { keyOf, PastStates } from './past-states.js'

export interface StreamContradiction {
  readonly ns: string
  readonly sentence: string
  readonly id: unknown
}

/** What the events make out of the documents at the beginning. */
export class StreamReplay {
  /**
   * By namespace and `_id`. A document that moves to another shard is deleted there and inserted
   * here, in any order: then there are two of them for a while, with different shard keys.
   */
  readonly #collections = new Map<string, Map<string, Document[]>>()
  /** Documents that were inserted a second time, and may be deleted elsewhere. */
  readonly #moving: { readonly id: string; readonly time: string; readonly contradiction: StreamContradiction }[] = []
  readonly contradictions: StreamContradiction[] = []
  readonly #past: PastStates | null
  #lastToken = ''
  /** Whether the next event may have the token of the last one. */
  #mayRepeatToken = false

  /** @param includesOrphans events may be about orphans, which other shards have in other states */
  constructor(includesOrphans: boolean) {
    this.#past = includesOrphans ? new PastStates() : null
  }

  begin(ns: string, documents: readonly Document[]): void {
    this.#collections.set(ns, new Map(documents.map((document) => [keyOf(document['_id']), [document]])))
    for (const document of documents) this.#past?.add(ns, document)
  }

  /** The stream resumes after the last event. */
  resumed(): void {
    this.#mayRepeatToken = false
  }

  has(ns: string, id: unknown): boolean {
    return (this.#collections.get(ns)?.get(keyOf(id)) ?? []).length > 0
  }

  apply(event: Document): void {
    const { ns, operationType, documentKey } = event as Record<'ns' | 'documentKey', Document> & {
      operationType: string
    }
    const name = `${ns['db'] as string}.${ns['coll'] as string}`
    const id: unknown = documentKey?.['_id']
    const token = event['_id']._data as string
    // A token does not name its shard: an orphan and its original may change at the same time.
    const repeats = this.#mayRepeatToken && token === this.#lastToken
    if (token <= this.#lastToken && !repeats)
      this.#contradict(name, id, `${operationType} comes again, or out of order`)
    this.#lastToken = token
    this.#mayRepeatToken = this.#past !== null
    const documents = this.#collections.get(name)
    // Of another activity.
    if (documents === undefined) return
    switch (operationType) {
      case 'drop':
        documents.clear()
        this.#past?.drop(name)
        return
      case 'rename': {
        const to = `${event['to'].db as string}.${event['to'].coll as string}`
        this.#collections.delete(name)
        this.#collections.set(to, documents)
        this.#past?.rename(name, to)
        return
      }
      default:
        if (documentKey !== undefined) this.#applyToDocument(name, documents, event)
    }
  }

  #applyToDocument(ns: string, documents: Map<string, Document[]>, event: Document): void {
    const { operationType, documentKey } = event as Record<'documentKey', Document> & { operationType: string }
    const id: unknown = documentKey['_id']
    const stored = documents.get(keyOf(id)) ?? []
    documents.set(keyOf(id), stored)
    const at = stored.findIndex((document) => hasKey(document, documentKey))
    const before = at < 0 ? [] : stored.splice(at, 1)
    if (operationType === 'insert' && before.length > 0) this.#insertedTwice(ns, stored, before[0]!, event)
    if (operationType === 'delete') this.#deletedBeside(id, event)
    if (operationType !== 'insert' && at < 0) {
      if (this.#past?.has(ns, id) === true) return
      this.#contradict(ns, id, `has an event ${operationType} although it does not exist`)
    }
    if (operationType === 'delete') return
    const description = event['updateDescription'] as Document | undefined
    const after =
      description === undefined ? (event['fullDocument'] as Document) : changed(before[0] ?? {}, description)
    stored.push(after)
    this.#past?.add(ns, after)
  }

  /**
   * Without the fields of the shard key, which a shard does not know of a collection that is gone,
   * the document may be moving: it is deleted elsewhere at the same time.
   */
  #insertedTwice(ns: string, stored: Document[], before: Document, event: Document): void {
    const { documentKey, clusterTime } = event as Record<'documentKey', Document> & { clusterTime: unknown }
    const id: unknown = documentKey['_id']
    this.#contradict(ns, id, 'is inserted although it exists')
    if (Object.keys(documentKey).length > 1) return
    stored.push(before)
    this.#moving.push({ id: keyOf(id), time: keyOf(clusterTime), contradiction: this.contradictions.at(-1)! })
  }

  #deletedBeside(id: unknown, { clusterTime }: Document): void {
    const moving = this.#moving.find((each) => each.id === keyOf(id) && each.time === keyOf(clusterTime))
    if (moving !== undefined) this.contradictions.splice(this.contradictions.indexOf(moving.contradiction), 1)
  }

  #contradict(ns: string, id: unknown, what: string): void {
    this.contradictions.push({ ns, id, sentence: `in the change stream, ${JSON.stringify(id)} ${what}` })
  }

  differences(ns: string, stored: readonly Document[]): StreamContradiction[] {
    const differences: StreamContradiction[] = []
    const expected = new Map(this.#collections.get(ns))
    for (const document of stored) {
      const id: unknown = document['_id']
      const [replayed, ...others] = expected.get(keyOf(id)) ?? []
      expected.set(keyOf(id), others)
      if (this.#past?.explains(ns, document) === true) continue
      if (replayed === undefined)
        differences.push({ ns, id, sentence: `the change stream has no insert of ${JSON.stringify(id)}` })
      else if (compareDocuments(encode(sorted(replayed)), encode(sorted(document))) !== 0)
        differences.push({
          ns,
          id,
          sentence: `the change stream makes ${JSON.stringify(replayed)} of ${JSON.stringify(document)}`,
        })
    }
    for (const { _id: id } of [...expected.values()].flat())
      differences.push({ ns, id, sentence: `the change stream has no delete of ${JSON.stringify(id)}` })
    return differences
  }
}

function hasKey(document: Document, documentKey: Document): boolean {
  return Object.entries(documentKey).every(([path, value]) => {
    const found = path.split('.').reduce<unknown>((inner, name) => (inner as Document | undefined)?.[name], document)
    return keyOf(found) === keyOf(value)
  })
}

/** Updates keep no order of fields. */
function sorted(document: Document): Document {
  const fields = Object.entries(document).map(([name, value]) => [name, sortedValue(value)] as const)
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedValue)
  const isDocument = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isDocument ? sorted(value) : value
}

/** The events keep their documents. */
function changed(before: Document, { updatedFields, removedFields, truncatedArrays }: Document): Document {
  let after = before
  for (const { field, newSize } of (truncatedArrays ?? []) as { field: string; newSize: number }[])
    after = withValue(after, field.split('.'), (array) => (array as unknown[]).slice(0, newSize))
  for (const [path, value] of Object.entries((updatedFields ?? {}) as Document))
    after = withValue(after, path.split('.'), () => value)
  for (const path of (removedFields ?? []) as string[]) after = withValue(after, path.split('.'), () => undefined)
  return after
}

/** @param valueOf undefined: the field is removed */
function withValue(container: Document, path: readonly string[], valueOf: (before: unknown) => unknown): Document {
  const [name, ...rest] = path as readonly [string, ...string[]]
  const copy: Document = Array.isArray(container) ? [...container] : { ...container }
  const value = rest.length === 0 ? valueOf(copy[name]) : withValue((copy[name] ?? {}) as Document, rest, valueOf)
  if (value === undefined) delete copy[name]
  else copy[name] = value
  return copy
}
