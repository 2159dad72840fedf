import { encode, ObjectId, Timestamp, UUID } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'
import t from 'tap'
import { LiveCatalogReader } from '../src/live/live-catalog.js'

/** A config server with collections of one chunk. */
class FakeCatalog {
  names = ['app.a', 'app.b', 'other.c']
  /** Namespaces of which chunks were asked for. */
  asked: string[] = []
  readonly reader: LiveCatalogReader

  constructor() {
    const runtime = {
      resolve: (set: string) => [set],
      member: () => ({ state: 'running' }),
      request: async (_to: string, kind: string, { ns }: { readonly ns: string }) => this.#answer(kind, ns),
    }
    this.reader = new LiveCatalogReader(runtime as unknown as Runtime)
  }

  /** @returns the namespaces that were read */
  async read(changed: ReadonlySet<string> | null): Promise<string[]> {
    this.asked = []
    const read = this.reader.read(changed)
    while ((await read.next()).done !== true);
    return this.asked
  }

  #answer(kind: string, ns: string): object {
    switch (kind) {
      case 'config.get-shards':
        return { shards: [] }
      case 'config.get-setting':
        return { setting: null }
      case 'config.get-collections':
        return { collections: this.names.map((name) => collectionOf(name)) }
      case 'config.get-zones':
        return { zones: [] }
      default:
        this.asked.push(ns)
        return { collection: collectionOf(ns), chunks: [], full: false }
    }
  }
}

const epoch = new ObjectId('64b000000000000000000001')
const timestamp = new Timestamp({ t: 1, i: 1 })
const collectionOf = (ns: string): Uint8Array =>
  encode({ _id: ns, key: { a: 1 }, lastmodEpoch: epoch, timestamp, uuid: new UUID('00112233445566778899aabbccddeeff') })

t.test('after an event only its collection is read, and new ones', async (t) => {
  const catalog = new FakeCatalog()
  t.same(await catalog.read(new Set()), ['app.a', 'app.b', 'other.c'], 'all are new')
  t.same(await catalog.read(new Set(['app.b'])), ['app.b'])
  t.same(await catalog.read(new Set(['app'])), ['app.a', 'app.b'], 'those of a database')
  catalog.names = ['app.a', 'app.new']
  t.same(await catalog.read(new Set(['other.c'])), ['app.new'])
  t.same([...catalog.reader.collections], ['app.a', 'app.new'])
  t.same(await catalog.read(null), ['app.a', 'app.new'])
})
