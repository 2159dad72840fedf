import { decode, encode, Timestamp, type Document } from '@shardlab/bson'
import t from 'tap'
import {
  applyPlacementAnswer,
  comparePlacement,
  isOlderGeneration,
  isWriteCompatible,
  knownVersion,
  OwnershipFilter,
  parseChunk,
  PlacementHistory,
  sameDatabaseVersion,
  sameGeneration,
  TableUpdate,
  writeDatabaseVersion,
  writePlacementVersion,
  type PlacementVersion,
} from '../src/index.js'
import { DocumentWriter } from '@shardlab/bson'
import { chunkDocument, collectionDocument, epoch, max, min, placementOf } from './support/placements.js'

t.test('a whole answer of the catalog gives a placement, and changes update it', async (t) => {
  const full = applyPlacementAnswer('db.c', null, {
    collection: collectionDocument({ a: 1 }, { unique: true, defaultCollation: { locale: 'de' } }),
    chunks: [chunkDocument({ a: 0 }, { a: max }, 'B', 1, 1), chunkDocument({ a: min }, { a: 0 }, 'A', 1, 0)],
    full: true,
  })!
  t.equal(full.ns, 'db.c')
  t.equal(full.unique, true)
  t.same(decode(full.defaultCollation!), { locale: 'de' })
  t.equal(Buffer.from(full.uuid).toString('hex'), '0123456789abcdef0123456789abcdef')
  t.same(full.table.version, [epoch.toHexString(), 100, 1, 1, 1])
  t.same(knownVersion(full), full.table.version)
  t.equal(knownVersion(null), null)
  const changed = applyPlacementAnswer('db.c', full, {
    collection: collectionDocument({ a: 1 }),
    chunks: [chunkDocument({ a: 0 }, { a: 5 }, 'B', 1, 2), chunkDocument({ a: 5 }, { a: max }, 'B', 1, 3)],
    full: false,
  })!
  t.equal(changed.table.chunkCount, 3)
  t.equal(full.table.chunkCount, 2)
  t.equal(
    applyPlacementAnswer('db.c', changed, { collection: collectionDocument({ a: 1 }), chunks: [], full: false }),
    changed,
    'no changes, same placement',
  )
  t.equal(
    applyPlacementAnswer('db.c', changed, { collection: null, chunks: [], full: true }),
    null,
    'no longer sharded',
  )
})

t.test('changes without the placement that they apply to throw', async (t) => {
  const answer = {
    collection: collectionDocument({ a: 1 }, { timestamp: new Timestamp({ t: 101, i: 1 }) }),
    chunks: [],
    full: false,
  }
  t.throws(() => applyPlacementAnswer('db.c', null, answer), /does not have/)
  t.throws(() => applyPlacementAnswer('db.c', placementOf({ a: 1 }, []), answer), /does not have/, 'another generation')
  t.throws(() => parseChunk(encode({ min: {}, max: {}, shard: 'A' })), /lacks/)
})

t.test('bounds that do not match the shard key throw when they arrive, not on first use', async (t) => {
  const known = placementOf({ a: 1 }, [{ a: 0 }])
  const collection = collectionDocument({ a: 1 })
  const ranges: readonly (readonly [from: Document, to: Document])[] = [
    [{ b: 0 }, { a: max }],
    [{ a: 0 }, { b: 1 }],
    [{ a: 0, b: 1 }, { a: 1 }],
    [{}, {}],
    [{ a: [1] }, { a: 5 }],
    [{ a: 5 }, { a: 0 }],
  ]
  for (const [from, to] of ranges) {
    const change = { collection, chunks: [chunkDocument(from, to, 's1', 9, 0)], full: false }
    t.throws(() => applyPlacementAnswer('db.c', known, change), { code: 117 }, JSON.stringify([from, to]))
    const chunks = [
      chunkDocument({ a: min }, from, 's0', 1, 0),
      chunkDocument(from, to, 's0', 1, 1),
      chunkDocument(to, { a: max }, 's0', 1, 2),
    ]
    t.throws(
      () => applyPlacementAnswer('db.c', null, { collection, chunks, full: true }),
      { code: 117 },
      JSON.stringify([from, to]),
    )
  }
})

t.test('a catalog before 5.0 without timestamps counts as timestamp 0', async (t) => {
  const { timestamp: _, ...old } = decode(collectionDocument({ a: 1 }))
  const placement = applyPlacementAnswer('db.c', null, {
    collection: encode(old),
    chunks: [chunkDocument({ a: min }, { a: max }, 'A')],
    full: true,
  })!
  t.same(placement.table.version, [epoch.toHexString(), 0, 0, 1, 0])
})

t.test('versions compare by generation, major and minor', async (t) => {
  const version = (
    major: number,
    minor: number,
    generation: [string, number, number] = ['e', 1, 1],
  ): PlacementVersion => [...generation, major, minor]
  t.equal(comparePlacement(version(1, 5), version(2, 0)), -1)
  t.equal(comparePlacement(version(2, 1), version(2, 0)), 1)
  t.equal(comparePlacement(version(2, 1), version(2, 1)), 0)
  t.equal(isWriteCompatible(version(2, 0), version(2, 9)), true, 'splits and merges move nothing')
  t.equal(isWriteCompatible(version(1, 9), version(2, 0)), false)
  t.equal(isWriteCompatible(version(2, 0), version(2, 0, ['f', 1, 1])), false)
  t.equal(sameGeneration(version(1, 0), version(7, 7)), true)
  t.equal(isOlderGeneration(version(9, 0), version(1, 0, ['f', 1, 2])), true)
  t.equal(isOlderGeneration(version(1, 0, ['f', 2, 0]), version(1, 0, ['e', 1, 9])), false)
  t.equal(sameDatabaseVersion(['u', 1, 1, 1], ['u', 1, 1, 1]), true)
  t.equal(sameDatabaseVersion(['u', 1, 1, 1], ['u', 1, 1, 2]), false)
  t.equal(sameDatabaseVersion(['u', 1, 1, 1], ['v', 1, 1, 1]), false)
})

t.test("versions are written as the server's documents", async (t) => {
  const e = epoch.toHexString()
  t.same(decode(writePlacementVersion(new DocumentWriter(), 'v', [e, 100, 1, 3, 4]).finish()), {
    v: { e: epoch, t: new Timestamp({ t: 100, i: 1 }), v: new Timestamp({ t: 3, i: 4 }) },
  })
  const database = decode(writeDatabaseVersion(new DocumentWriter(), 'v', ['00'.repeat(16), 7, 1, 2]).finish()) as {
    v: Document
  }
  t.same(Object.keys(database.v), ['uuid', 'timestamp', 'lastMod'])
  t.equal(database.v['lastMod'], 2)
})

t.test('a shard owns the documents of its chunks', async (t) => {
  const placement = placementOf({ a: 1 }, [{ a: 0 }])
  const low = new OwnershipFilter(placement, 's0')
  t.ok(low.owns(encode({ _id: 1, a: -1 })))
  t.ok(low.owns(encode({ _id: 1 })), 'missing counts as null')
  t.notOk(low.owns(encode({ _id: 1, a: 0 })))
  t.notOk(low.owns(encode({ _id: 1, a: [-1] })), 'no shard owns a document without a key')
  t.ok(new OwnershipFilter(placement, 's1').owns(encode({ _id: 1, a: 0 })))
  t.notOk(new OwnershipFilter(placement, 's7').owns(encode({ _id: 1, a: 0 })))
  const hashed = placementOf({ a: 'hashed' }, [{ a: decodeLong(0n) }])
  t.ok(new OwnershipFilter(hashed, 's1').owns(encode({ a: 1 })), 'the hash of 1 is above zero')
  t.ok(new OwnershipFilter(hashed, 's0').owns(encode({ a: 42 })), 'the hash of 42 is below zero')
})

function decodeLong(value: bigint): unknown {
  return decode(new DocumentWriter().int64('v', value).finish())['v']
}

t.test('a placement history has the owners at past times', (t) => {
  const chunks = [chunkDocument({ a: min }, { a: 0 }, 'A', 1, 0), chunkDocument({ a: 0 }, { a: max }, 'C', 3, 0)]
  const placement = applyPlacementAnswer('db.c', null, {
    collection: collectionDocument({ a: 1 }),
    chunks,
    full: true,
  })!
  const past = (i: number, shard: string) => ({ validAfter: new Timestamp({ t: 10, i }), shard })
  const withHistory = (chunk: Uint8Array, ...history: Document[]) => encode({ ...decode(chunk), history })
  const history = new PlacementHistory(placement, [
    withHistory(chunks[0]!, past(2, 'A')),
    withHistory(chunks[1]!, past(9, 'C'), past(5, 'B'), past(2, 'A')),
  ])
  t.same(history.newest, [10, 9])
  t.equal(history.at([10, 9]), placement, 'nothing has changed since')
  t.equal(history.at([11, 1]), placement)
  t.same(history.at([10, 8]).table.owners(), ['A', 'B'])
  t.same(history.at([10, 5]).table.owners(), ['A', 'B'])
  t.equal(history.at([10, 5]), history.at([10, 5]), 'reads at one time share a placement')
  t.same(history.at([10, 4]).table.owners(), ['A'])
  t.throws(() => history.at([10, 1]), {
    code: 250,
    message: 'Cannot find shardId the chunk belonged to at cluster time Timestamp(10, 1)',
  })
  t.throws(
    () =>
      new PlacementHistory(placement, [
        withHistory(chunks[0]!, past(2, 'A')),
        withHistory(chunks[1]!, past(3, 'C')),
      ]).at([10, 2]),
    {
      code: 250,
    },
  )
  t.end()
})

t.test('a table update gives the same table as the changed documents', async (t) => {
  const collection = collectionDocument({ a: 1 })
  const known = placementOf({ a: 1 }, [{ a: 0 }])
  const documents = [chunkDocument({ a: 0 }, { a: 5 }, 'B', 2, 0), chunkDocument({ a: 5 }, { a: max }, 'A', 2, 1)]
  const changed = applyPlacementAnswer('db.c', known, { collection, chunks: documents, full: false })!
  const update = new TableUpdate(changed.table, known.table.version, 200)
  t.equal(applyPlacementAnswer('db.c', known, { collection, chunks: update, full: false })!.table, changed.table)
  t.equal(update.sizeBytes, 400)
  const whole = new TableUpdate(changed.table, null, 200)
  t.equal(applyPlacementAnswer('db.c', null, { collection, chunks: whole, full: true })!.table, changed.table)
  t.equal(whole.sizeBytes, 600)
  const older = new TableUpdate(known.table, known.table.version, 200)
  t.equal(applyPlacementAnswer('db.c', changed, { collection, chunks: older, full: false }), changed)
  t.equal(older.sizeBytes, 0)
})
