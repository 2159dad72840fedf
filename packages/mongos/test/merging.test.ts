import t from 'tap'
import fc from 'fast-check'
import { decode, encode, findField, type Document } from '@shardlab/bson'
import { sortKeyOrder } from '@shardlab/member'
import { parseSort } from '@shardlab/query'
import { BufferedCursor, RemoteCursor } from '../src/cursors/remote-cursor.js'
import { ResultsMerger } from '../src/cursors/results-merger.js'
import { SkipLimitStream } from '../src/cursors/skip-limit-stream.js'
import { RefreshingMap } from '../src/catalog/refreshing-map.js'

function exhausted(documents: readonly Document[]): BufferedCursor {
  const reply = encode({ batch: documents })
  return new BufferedCursor(
    new RemoteCursor({ shard: 'shard01', receiver: 'shard01', db: 'test', ns: 'test.c', id: 0n }),
    findField(reply, 'batch')!,
  )
}

function takeAll(stream: { take(): Uint8Array | null }): Document[] {
  const taken: Document[] = []
  for (let document = stream.take(); document !== null; document = stream.take()) taken.push(decode(document))
  return taken
}

t.test('sorted streams are merged into sorted order, for any keys and directions (property)', async () => {
  const row = fc.record({
    a: fc.integer({ min: 0, max: 4 }),
    b: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(null), fc.constantFrom('x', 'yy')),
  })
  const rank = (value: unknown) => (value === null ? 0 : typeof value === 'number' ? 1 : 2)
  const compare = (x: unknown, y: unknown) =>
    rank(x) - rank(y) || (x === y ? 0 : (x as number) < (y as number) ? -1 : 1)
  fc.assert(
    fc.property(
      fc.array(fc.array(row, { maxLength: 12 }), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(1, -1),
      fc.constantFrom(1, -1),
      fc.boolean(),
      (shards, a, b, detach) => {
        const order = (x: Document, y: Document) => a * compare(x['a'], y['a']) || b * compare(x['b'], y['b'])
        const remotes = shards.map((rows, shard) =>
          exhausted([...rows].sort(order).map(({ a, b }, i) => ({ _id: `${shard}.${i}`, a, b, $sortKey: [a, b] }))),
        )
        const merger = new ResultsMerger(remotes, sortKeyOrder(parseSort(encode({ a, b }))), 0)
        if (detach) merger.detach()
        const merged = takeAll(merger)
        const sorted = merged.every((document, i) => i === 0 || order(merged[i - 1]!, document) <= 0)
        const stripped = merged.every((document) => Object.keys(document).join() === '_id,a,b')
        return (
          sorted &&
          stripped &&
          merger.done &&
          new Set(merged.map((document) => document['_id'])).size === shards.flat().length
        )
      },
    ),
    { numRuns: 200 },
  )
})

t.test('the sort key is removed at any position in the document', (t) => {
  const order = sortKeyOrder(parseSort(encode({ a: 1 })))
  for (const document of [
    { a: 1, $sortKey: [1] },
    { $sortKey: [1], a: 1 },
    { a: 1, $sortKey: [1], b: { c: 2 } },
  ]) {
    const { $sortKey: _, ...rest } = document
    t.same(decode(order.strip(encode(document))), rest)
  }
  t.end()
})

t.test('unordered streams are drained one after the other without loss', (t) => {
  const merger = new ResultsMerger(
    [exhausted([{ _id: 1 }, { _id: 2 }]), exhausted([]), exhausted([{ _id: 3 }])],
    null,
    0,
  )
  t.same(takeAll(merger), [{ _id: 1 }, { _id: 2 }, { _id: 3 }])
  t.equal(merger.done, true)
  t.end()
})

t.test('skip and limit apply to the merged stream', (t) => {
  const stream = () => new ResultsMerger([exhausted([1, 2, 3, 4].map((_id) => ({ _id })))], null, 0)
  t.same(takeAll(new SkipLimitStream(stream(), 1, 2)), [{ _id: 2 }, { _id: 3 }])
  t.same(takeAll(new SkipLimitStream(stream(), 3, 0)), [{ _id: 4 }])
  t.same(takeAll(new SkipLimitStream(stream(), 9, 1)), [])
  const limited = new SkipLimitStream(stream(), 0, 1)
  limited.take()
  t.equal(limited.done, true)
  t.end()
})

t.test('a refreshing map', async (t) => {
  t.test('the result of a fetch that began before the value was forgotten is dropped', async (t) => {
    const answers: ((value: number) => void)[] = []
    const map = new RefreshingMap<number>({
      fetch: () => new Promise((resolve) => answers.push(resolve)),
      entriesMax: 10,
      onLimit: () => {},
    })
    const first = map.get('a')
    map.forget('a')
    answers[0]!(1)
    await new Promise(setImmediate)
    t.equal(answers.length, 2, 'asked again')
    answers[1]!(2)
    t.equal(await first, 2)
    map.markStale('a', 1)
    t.equal(map.peek('a'), 2, 'an older value that led astray says nothing of the newer one')
    map.markStale('a', 2)
    t.equal(map.peek('a'), undefined)
  })

  t.test('a failed fetch rejects all its callers, and the next call fetches again', async (t) => {
    let fails = true
    const map = new RefreshingMap<number>({
      fetch: async () => (fails ? Promise.reject(new Error('no')) : 7),
      entriesMax: 10,
      onLimit: () => {},
    })
    await t.rejects(map.get('a'), /no/)
    fails = false
    t.equal(await map.get('a'), 7)
    t.equal(map.fetchCount, 2)
  })

  t.test('a full map evicts the oldest entry', async (t) => {
    let limits = 0
    const map = new RefreshingMap<string>({ fetch: async (name) => name, entriesMax: 2, onLimit: () => void limits++ })
    for (const name of ['a', 'b', 'c']) await map.get(name)
    t.same([...map.names()], ['b', 'c'])
    t.equal(limits, 1)
  })
})
