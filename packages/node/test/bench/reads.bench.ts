/**
 * Run by hand: `node packages/node/dist/test/bench/reads.bench.js`. Measures reading commands on
 * one node, from the bytes of the command to those of the reply: microseconds of the best of
 * several slices, on a collection of 100,000 documents.
 */
import { decode, Long, type Document } from '@shardlab/bson'
import { performance } from 'node:perf_hooks'
import { NodeUnderTest } from '../support/harness.js'

const count = 100_000
const documentsPerInsert = 1000
const sliceMs = 40
const slices = 20

const node = new NodeUnderTest({ version: '8.0' })
await node.ok({
  createIndexes: 'c',
  indexes: [
    { key: { group: 1, n: 1 }, name: 'group_1_n_1' },
    { key: { name: 1 }, name: 'name_1' },
  ],
})
for (let from = 0; from < count; from += documentsPerInsert) {
  const documents = Array.from({ length: documentsPerInsert }, (_, at) => {
    const _id = from + at
    return {
      _id,
      group: _id % 1000,
      n: _id % 7,
      name: `name ${_id}`,
      text: 'a text of some length',
      nested: { a: _id, b: [1, 2, 3] },
    }
  })
  await node.ok({ insert: 'c', documents })
}

async function measure(name: string, commandOf: (i: number) => Document): Promise<void> {
  const commands = Array.from({ length: 256 }, (_, i) => node.command(commandOf((i * 7919) % count)))
  const run = (i: number) => node.node.nodeCommand(commands[i & 255]!)
  const reply = decode((await run(0)).body)
  if (reply['ok'] !== 1) throw new Error(`${name}: ${JSON.stringify(reply)}`)
  let best = Infinity
  let i = 0
  for (let slice = 0; slice < slices; slice++) {
    const from = performance.now()
    let calls = 0
    do {
      await run(i++)
      calls++
    } while (performance.now() - from < sliceMs)
    best = Math.min(best, (performance.now() - from) / calls)
  }
  console.log(`${name.padEnd(56)} ${(best * 1000).toFixed(1).padStart(10)} µs`)
}

const aggregate = (...pipeline: Document[]): Document => ({ aggregate: 'c', pipeline, cursor: {} })

await measure('ping', () => ({ ping: 1 }))
await measure('find by _id', (_id) => ({ find: 'c', filter: { _id }, limit: 1, singleBatch: true }))
await measure('find by an index, one document', (i) => ({ find: 'c', filter: { name: `name ${i}` } }))
await measure('find by an index, 100 documents', (i) => ({ find: 'c', filter: { group: i % 1000 } }))
await measure('find by an index, covered, 100 keys', (i) => ({
  find: 'c',
  filter: { group: i % 1000 },
  projection: { n: 1, _id: 0 },
}))
await measure('find of 100 documents with a sort in memory', (i) => ({
  find: 'c',
  filter: { group: i % 1000 },
  sort: { text: 1, _id: -1 },
}))
await measure('find with an inclusion, 100 documents', (i) => ({
  find: 'c',
  filter: { group: i % 1000 },
  projection: { name: 1 },
}))
await measure('first batch of everything, cursor closed', () => ({ find: 'c', singleBatch: true }))
await measure('scan of 100,000 documents for none', () => ({ find: 'c', filter: { text: 'none' } }))
await measure('count by an index, 100 keys', (i) => ({ count: 'c', query: { group: i % 1000 } }))
await measure('distinct of an indexed field', () => ({ distinct: 'c', key: 'group' }))
await measure('aggregate: $match, $group, covered, 100 keys', (i) =>
  aggregate({ $match: { group: i % 1000 } }, { $group: { _id: '$n', count: { $sum: 1 } } }),
)
await measure('aggregate: $match, $group, 100 documents', (i) =>
  aggregate({ $match: { group: i % 1000 } }, { $group: { _id: '$n', sum: { $sum: '$nested.a' } } }),
)
await measure('aggregate: $group of 100,000 documents', () =>
  aggregate({ $group: { _id: '$group', sum: { $sum: '$n' } } }),
)
await measure('explain of a find', (i) => ({
  explain: { find: 'c', filter: { group: i % 1000 } },
  verbosity: 'queryPlanner',
}))

const { cursor } = (await node.ok({ find: 'c', batchSize: 2 })) as { cursor: { id: Long } }
const from = performance.now()
let batches = 0
for (let id = cursor.id; !id.isZero(); batches++)
  ({ id } = ((await node.ok({ getMore: id, collection: 'c', batchSize: 1000 })) as { cursor: { id: Long } }).cursor)
console.log(
  `${'getMore of 1,000 documents, decoded'.padEnd(56)} ${(((performance.now() - from) * 1000) / batches).toFixed(1).padStart(10)} µs`,
)
