/**
 * How much an operation computes between two turns, with the default parameters. Nothing here
 * measures time: a slice reads the clock after every 64 works, and these reads are counted.
 */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { NodeUnderTest } from './support/harness.js'

const documentCount = 12_000
const worksBetweenClockReads = 64
/** Works of a slice, and those until its next check. */
const worksMax = 1000 + worksBetweenClockReads
/** Reads of the clock that are no checks: by the command, its reply and the next slice. */
const otherReads = 8

/** A write reads the clock for each document that it changes, and for its entry in the log. */
const readsOfWrite = 2

/** A document is at least one work of each operation; those that also emit have two. */
const operations: Record<string, readonly [command: Document, works: number, isWrite?: true]> = {
  'a regular expression that backtracks': [{ find: 'c', filter: { text: /^(([a-z])+.)+[A-Z]([a-z])+$/ } }, 1],
  'a sort in one batch': [{ find: 'c', sort: { name: 1, b: -1 }, batchSize: documentCount }, 2],
  'a $group into many groups': [
    { aggregate: 'c', pipeline: [{ $group: { _id: '$b', names: { $push: '$name' } } }], cursor: { batchSize: 20_000 } },
    2,
  ],
  'a $sort after a $project': [
    { aggregate: 'c', pipeline: [{ $set: { x: '$b' } }, { $sort: { x: -1 } }], cursor: { batchSize: 20_000 } },
    2,
  ],
  'a $unwind of one long array': [
    {
      aggregate: 'c',
      pipeline: [{ $limit: 1 }, { $set: { a: { $range: [0, documentCount] } } }, { $unwind: '$a' }, { $count: 'n' }],
      cursor: {},
    },
    1,
  ],
  'a count': [{ count: 'c', query: { b: { $gte: 0 } } }, 1],
  distinct: [{ distinct: 'c', key: 'group', query: { b: { $gte: 0 } } }, 1],
  explain: [{ explain: { find: 'c', filter: { b: { $gte: 0 } } }, verbosity: 'executionStats' }, 1],
  validate: [{ validate: 'c' }, 2],
  dbHash: [{ dbHash: 1 }, 1],
  'an update of all': [
    { update: 'c', updates: [{ q: { b: { $gte: 0 } }, u: { $inc: { n: 1 } }, multi: true }] },
    2,
    true,
  ],
  'a deletion of all': [{ delete: 'c', deletes: [{ q: { b: { $gte: 0 } }, limit: 0 }] }, 2, true],
}

async function filled(): Promise<NodeUnderTest> {
  const node = new NodeUnderTest()
  for (let from = 0; from < documentCount; from += 6000) {
    const documents = Array.from({ length: 6000 }, (_, i) => ({
      _id: from + i,
      b: from + i,
      group: i % 50,
      name: `name ${(i * 31) % 1009}`,
      text: `${'abcdefghij'.repeat(4)}!`,
    }))
    await node.ok({ insert: 'c', documents })
  }
  return node
}

t.test('no operation computes more than a slice between two turns', async (t) => {
  for (const [name, [command, worksOfDocument, isWrite]] of Object.entries(operations)) {
    const { node, most, turns } = await turnsOf(command)
    t.ok(turns >= (documentCount * worksOfDocument) / worksMax - 1, `${name}: ${turns} turns`)
    const checks = Math.ceil(worksMax / worksBetweenClockReads)
    const mostReads = checks + otherReads + (isWrite === true ? worksMax * readsOfWrite : 0)
    t.ok(most <= mostReads, `${name}: at most ${most} reads of the clock between two turns`)
    t.equal(node.node.operations.size, 0)
  }
})

t.test('an index build adds at most 4096 keys between two turns', async (t) => {
  const { turns } = await turnsOf({ createIndexes: 'c', indexes: [{ key: { name: 1 }, name: 'name_1' }] })
  t.ok(turns >= Math.floor(documentCount / 4096), `${turns} turns`)
})

async function turnsOf(command: Document): Promise<{ node: NodeUnderTest; turns: number; most: number }> {
  const node = await filled()
  const { context } = node
  let reads = 0
  let most = 0
  context.now = () => {
    reads++
    return context.nowMs
  }
  context.betweenTurns = async () => {
    most = Math.max(most, reads)
    reads = 0
  }
  const before = context.turns
  await node.ok(command)
  return { node, turns: context.turns - before, most: Math.max(most, reads) }
}
