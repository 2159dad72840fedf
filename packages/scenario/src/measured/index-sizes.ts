/** Estimated sizes of the indexes of collections without documents. */
import type { ClusterEvent } from '@shardlab/cluster'
import type { CollectionSource } from '../file/schema.js'
import { splitNamespace, temporaryPart } from '../run/namespace.js'

/** Record id, and the cell of a page that is three quarters full. */
const entryBytes = 12
/** A number or a hash as a KeyString. */
const fieldBytes = 9
/** An ObjectId as a KeyString. */
const idBytes = 13

type Key = Readonly<Record<string, unknown>>

export class IndexSizes {
  readonly #sources: ReadonlyMap<string, CollectionSource>
  /** By collection: bytes for a document, in all indexes. */
  readonly #perDocument = new Map<string, number>()
  /** By database: in the temporary collection of the running resharding. */
  readonly #temporary = new Map<string, number>()

  constructor(collections: readonly CollectionSource[]) {
    const measured = collections.filter(({ mode }) => mode === 'metadata')
    this.#sources = new Map(measured.map((source) => [source.ns, source]))
    for (const source of measured) this.#perDocument.set(source.ns, declaredBytes(source))
  }

  /** 0: its documents are stored, and their indexes are not counted. */
  perDocument(ns: string): number {
    const own = this.#perDocument.get(ns)
    if (own !== undefined) return own
    return ns.includes(temporaryPart) ? (this.#temporary.get(splitNamespace(ns)[0]) ?? 0) : 0
  }

  /** A resharded collection keeps its indexes, and has one of the new key. */
  readonly onEvent = (event: ClusterEvent): void => {
    if (event.type !== 'resharding') return
    const source = this.#sources.get(event.ns)
    if (source === undefined) return
    const [db] = splitNamespace(event.ns)
    if (event.state === 'cloning') {
      const key = JSON.parse(event.key) as Key
      const isNew = !indexKeys(source).some((known) => startsWith(known, key))
      this.#temporary.set(db, this.perDocument(event.ns) + (isNew ? entryOf(source, key) : 0))
    } else if (event.state === 'committed') {
      const bytes = this.#temporary.get(db)
      if (bytes !== undefined) this.#perDocument.set(event.ns, bytes)
    }
  }
}

function declaredBytes(source: CollectionSource): number {
  const keys = indexKeys(source)
  return (source.indexEntrySize ?? entryBytes + idBytes) + keys.reduce((sum, key) => sum + entryOf(source, key), 0)
}

/** Without that of `_id`. */
function indexKeys({ key, fields, indexes }: CollectionSource): Key[] {
  const declared: Key[] = fields === undefined ? [{ other: 1 }, ...indexes] : [...indexes]
  const isIdKey = Object.keys(key).join() === '_id' && key['_id'] === 1
  return isIdKey || declared.some((each) => startsWith(each, key)) ? declared : [key, ...declared]
}

function startsWith(index: Key, key: Key): boolean {
  const [has, wanted] = [Object.entries(index), Object.entries(key)]
  return wanted.every(([name, kind], i) => has[i]?.[0] === name && has[i][1] === kind)
}

function entryOf({ indexEntrySize }: CollectionSource, key: Key): number {
  return indexEntrySize ?? entryBytes + fieldBytes * Object.keys(key).length
}
