import { decode, DocumentWriter, encode, findField } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { createMemoryEngine, type LogEntry } from '@shardlab/storage'
import t from 'tap'
import { CatalogStore } from '../src/catalog/store/catalog-store.js'

t.test('a document read from an index is current until it is written again', async (t) => {
  const ns = 'config.chunks'
  const engine = createMemoryEngine()
  const apply = (op: LogEntry['op'], object: Uint8Array): void => {
    const id = op === 'u' ? findField(object, '_id')! : null
    engine.apply({
      op,
      ns,
      uuid: Buffer.alloc(16),
      object,
      id,
      session: null,
      difference: null,
      ts: [1, 1],
      term: 1,
      wallMs: 0,
    })
  }
  const chunk = (_id: number): Uint8Array =>
    new DocumentWriter()
      .int32('_id', _id)
      .document('min', encode({ a: _id }))
      .document('max', encode({ a: _id + 1 }))
      .string('shard', 'shard01')
      .timestamp('lastmod', 1, 1)
      .finish()
  apply('c', encode({ create: 'chunks' }))
  for (const id of [1, 2, 3]) apply('i', chunk(id))
  const store = new CatalogStore({ collection: () => engine.collection(ns) } as unknown as NodeHost)
  const read = store.all(ns)
  const ids = read.map((document) => findField(document, '_id')!)
  t.same(
    read.map((document) => decode(document)['_id']),
    [1, 2, 3],
  )
  const current = (): boolean[] => ids.map((id) => store.isCurrent(ns, id))
  t.same(current(), [true, true, true])
  apply('u', chunk(2))
  t.same(current(), [true, false, true], 'the same bytes, written again')
  t.equal(store.isCurrent(ns, findField(chunk(1), '_id')!), false, 'a document that was never there')
})
