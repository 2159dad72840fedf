/** The commands of one client, from hello to dropDatabase, with a shard's crash in between. */
import type { Test } from 'tap'
import { decode, encode, Long, type Document } from '@shardlab/bson'
import { Normaliser } from './normalise.js'
import { playDataPlane } from './data-plane-script.js'
import type { Say } from './say.js'
import type { Sequences, World } from './worlds.js'

/** One step of the script and the cluster's normalised answer. */
export interface Answer {
  readonly step: string
  readonly reply: string
}

/**
 * Runs the script and checks what every runtime must answer. The caller compares the whole replies.
 */
export async function play(t: Test, world: World): Promise<Answer[]> {
  const answers: Answer[] = []
  const normaliser = new Normaliser(() => world.members())
  const say: Say = async (step, command, expected, { sequences = [], to = 'mongos01' } = {}) => {
    const reply = await world.command(to, encode(command), sequences)
    answers.push({ step, reply: normaliser.text(reply) })
    const decoded = decode(reply, { promoteLongs: true })
    t.match(decoded, expected, step)
    return decoded
  }
  await introduce(say)
  await write(say)
  await read(say)
  await change(say)
  await administer(say)
  await playDataPlane(say)
  await fail(say)
  await crash(say, world)
  await drop(say)
  return answers
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const documents = (count: number, make: (i: number) => Document): Sequences => [
  ['documents', numbers(count).map((i) => encode(make(i)))],
]

async function introduce(say: Say): Promise<void> {
  await say('hello of a mongos', { hello: 1, $db: 'admin' }, { ok: 1, msg: 'isdbgrid' })
  await say('hello of a shard', { hello: 1, $db: 'admin' }, { ok: 1, setName: 'shard02' }, { to: 'shard02' })
  await say('ping', { ping: 1, $db: 'admin' }, { ok: 1 })
  await say(
    'shard by a range',
    { shardCollection: 'app.ranged', key: { k: 1 }, $db: 'admin' },
    { ok: 1, collectionsharded: 'app.ranged' },
  )
  await say('shard by a hash', { shardCollection: 'app.hashed', key: { _id: 'hashed' }, $db: 'admin' }, { ok: 1 })
  await say(
    'shard again by another key',
    { shardCollection: 'app.hashed', key: { k: 1 }, $db: 'admin' },
    { ok: 0, codeName: 'AlreadyInitialized' },
  )
}

async function write(say: Say): Promise<void> {
  for (const ns of ['ranged', 'hashed', 'plain']) {
    await say(
      `insert one into ${ns}`,
      { insert: ns, documents: [{ _id: 1000, k: 1000, n: 0, group: 'alone' }], $db: 'app' },
      { ok: 1, n: 1 },
    )
    const batch = documents(60, (i) => ({ _id: i, k: i, n: 0, group: `g${i % 4}`, text: `number ${i}` }))
    await say(`insert a batch into ${ns}`, { insert: ns, $db: 'app' }, { ok: 1, n: 60 }, { sequences: batch })
  }
  const mixed = documents(10, (i) => ({ _id: 55 + i, k: 55 + i }))
  await say(
    'a batch with duplicate keys',
    { insert: 'hashed', ordered: false, $db: 'app' },
    { ok: 1, n: 5, writeErrors: [{ index: 0, code: 11000 }] },
    { sequences: mixed },
  )
  await say(
    'an ordered batch with duplicate keys',
    { insert: 'hashed', $db: 'app' },
    { ok: 1, n: 0, writeErrors: [{ index: 0 }] },
    { sequences: mixed },
  )
  await say(
    'a duplicate key',
    { insert: 'ranged', documents: [{ _id: 7, k: 7 }], $db: 'app' },
    { ok: 1, n: 0, writeErrors: [{ code: 11000, keyPattern: { _id: 1 } }] },
  )
  await say('insert without an _id', { insert: 'plain', documents: [{ n: 1 }], $db: 'app' }, { ok: 1, n: 1 })
}

async function read(say: Say): Promise<void> {
  for (const ns of ['ranged', 'hashed']) {
    await say(
      `find one in ${ns}`,
      { find: ns, filter: { _id: 5, k: 5 }, $db: 'app' },
      { cursor: { id: 0, firstBatch: [{ _id: 5 }] } },
    )
    await say(
      `find sorted in ${ns}`,
      {
        find: ns,
        filter: { group: { $in: ['g1', 'g2'] } },
        sort: { group: -1, _id: 1 },
        skip: 3,
        limit: 9,
        projection: { text: 0 },
        $db: 'app',
      },
      { ok: 1, cursor: { id: 0, firstBatch: [{ _id: 14, group: 'g2' }] } },
    )
    let batch = await say(
      `open a cursor on ${ns}`,
      { find: ns, filter: { _id: { $lt: 20 } }, sort: { _id: -1 }, batchSize: 3, $db: 'app' },
      { ok: 1, cursor: { firstBatch: [{ _id: 19 }, { _id: 18 }, { _id: 17 }] } },
    )
    while (batch['cursor'].id !== 0)
      batch = await say(
        `getMore on ${ns}`,
        { getMore: Long.fromBigInt(BigInt(batch['cursor'].id)), collection: ns, batchSize: 4, $db: 'app' },
        { ok: 1 },
      )
    await say(
      `distinct counts of ${ns}`,
      { aggregate: ns, pipeline: [{ $match: { _id: { $gte: 10 } } }, { $count: 'all' }], cursor: {}, $db: 'app' },
      { ok: 1 },
    )
    await say(
      `groups of ${ns}`,
      {
        aggregate: ns,
        pipeline: [{ $group: { _id: '$group', sum: { $sum: '$_id' }, most: { $max: '$k' } } }, { $sort: { _id: 1 } }],
        cursor: {},
        $db: 'app',
      },
      { ok: 1, cursor: { id: 0 } },
    )
    await say(`count ${ns}`, { count: ns, query: { group: 'g1' }, $db: 'app' }, { ok: 1, n: 15 })
  }
}

async function change(say: Say): Promise<void> {
  for (const ns of ['ranged', 'hashed']) {
    const at = (i: number) => ({ _id: i, k: i })
    await say(
      `update one in ${ns}`,
      { update: ns, updates: [{ q: at(3), u: { $inc: { n: 5 }, $set: { seen: true } } }], $db: 'app' },
      { ok: 1, n: 1, nModified: 1 },
    )
    await say(
      `update many in ${ns}`,
      { update: ns, updates: [{ q: { group: 'g0' }, u: { $inc: { n: 1 } }, multi: true }], $db: 'app' },
      { ok: 1, n: 15, nModified: 15 },
    )
    await say(
      `replace in ${ns}`,
      { update: ns, updates: [{ q: at(4), u: { k: 4, replaced: true } }], $db: 'app' },
      { ok: 1, n: 1, nModified: 1 },
    )
    await say(
      `upsert into ${ns}`,
      { update: ns, updates: [{ q: at(2000), u: { $set: { n: 1 } }, upsert: true }], $db: 'app' },
      { ok: 1, n: 1, upserted: [{ index: 0, _id: 2000 }] },
    )
    await say(`delete one of ${ns}`, { delete: ns, deletes: [{ q: at(9), limit: 1 }], $db: 'app' }, { ok: 1, n: 1 })
    await say(
      `delete many of ${ns}`,
      { delete: ns, deletes: [{ q: { group: 'g3' }, limit: 0 }], $db: 'app' },
      { ok: 1, n: 15 },
    )
    await say(
      `${ns} afterwards`,
      { find: ns, filter: { _id: { $lt: 30 } }, sort: { _id: 1 }, $db: 'app' },
      { ok: 1, cursor: { id: 0 } },
    )
  }
  await say(
    'upsert with a generated _id',
    { update: 'plain', updates: [{ q: { name: 'new' }, u: { $set: { n: 1 } }, upsert: true }], $db: 'app' },
    { ok: 1, n: 1 },
  )
}

async function administer(say: Say): Promise<void> {
  const indexes = [{ key: { group: 1, n: -1 }, name: 'group_1_n_-1' }]
  await say('createIndexes', { createIndexes: 'hashed', indexes, $db: 'app' }, { ok: 1 })
  await say('createIndexes again', { createIndexes: 'hashed', indexes, $db: 'app' }, { ok: 1 })
  for (const ns of ['ranged', 'hashed', 'plain'])
    await say(`listIndexes of ${ns}`, { listIndexes: ns, $db: 'app' }, { ok: 1, cursor: { id: 0 } })
  await say('listIndexes of nothing', { listIndexes: 'nothing', $db: 'app' }, { ok: 0, codeName: 'NamespaceNotFound' })
  await say('listCollections', { listCollections: 1, $db: 'app' }, { ok: 1, cursor: { id: 0 } })
  await say(
    'listDatabases',
    { listDatabases: 1, nameOnly: true, $db: 'admin' },
    { ok: 1, databases: [{ name: 'admin' }, { name: 'app' }] },
  )
  await say(
    'listShards',
    { listShards: 1, $db: 'admin' },
    { ok: 1, shards: [{ _id: 'shard01' }, { _id: 'shard02' }, { _id: 'shard03' }] },
  )
}

async function fail(say: Say): Promise<void> {
  await say('an unknown command', { frobnicate: 1, $db: 'app' }, { ok: 0, code: 59, codeName: 'CommandNotFound' })
  await say(
    'an unknown operator',
    { find: 'hashed', filter: { n: { $frob: 1 } }, $db: 'app' },
    { ok: 0, code: 2, codeName: 'BadValue' },
  )
  await say('an unknown field', { find: 'hashed', frob: 1, $db: 'app' }, { ok: 0, code: 40415 })
  await say(
    'a cursor that is not there',
    { getMore: Long.fromNumber(12345), collection: 'hashed', $db: 'app' },
    { ok: 0, code: 43, codeName: 'CursorNotFound' },
  )
  await say(
    'a changed _id',
    { update: 'ranged', updates: [{ q: { _id: 5, k: 5 }, u: { $set: { _id: 6 } } }], $db: 'app' },
    { ok: 1, n: 0, writeErrors: [{ index: 0, code: 66 }] },
  )
}

async function crash(say: Say, world: World): Promise<void> {
  const all = { find: 'hashed', filter: {}, sort: { _id: 1 }, batchSize: 200, $db: 'app' }
  const before = await say('everything before the crash', all, { ok: 1, cursor: { id: 0 } })
  await world.crash('shard02')
  await say('everything without a shard', all, { ok: 0, code: 133, codeName: 'FailedToSatisfyReadPreference' })
  const batch = documents(12, (i) => ({ _id: 3000 + i }))
  await say(
    'a batch without a shard',
    { insert: 'hashed', ordered: false, $db: 'app' },
    { ok: 1, writeErrors: [{ code: 133 }] },
    { sequences: batch },
  )
  await say('other commands without a shard', { ping: 1, $db: 'admin' }, { ok: 1 })
  await world.restart('shard02')
  const first = { ...all, filter: { _id: { $lt: 3000 } } }
  await say('everything after the restart', first, {
    ok: 1,
    cursor: { id: 0, firstBatch: before['cursor'].firstBatch },
  })
  await say(
    'what the batch left out',
    { insert: 'hashed', ordered: false, $db: 'app' },
    { ok: 1, writeErrors: [{ code: 11000 }] },
    { sequences: batch },
  )
  await say('the whole batch', { count: 'hashed', query: { _id: { $gte: 3000 } }, $db: 'app' }, { ok: 1, n: 12 })
}

async function drop(say: Say): Promise<void> {
  await say('drop', { drop: 'ranged', $db: 'app' }, { ok: 1, ns: 'app.ranged' })
  await say(
    'find in what was dropped',
    { find: 'ranged', filter: {}, $db: 'app' },
    { ok: 1, cursor: { id: 0, firstBatch: [] } },
  )
  await say('drop again', { drop: 'ranged', $db: 'app' }, { ok: 1 })
  await say('dropDatabase', { dropDatabase: 1, $db: 'app' }, { ok: 1, dropped: 'app' })
  await say(
    'find in the dropped database',
    { find: 'hashed', filter: {}, $db: 'app' },
    { ok: 1, cursor: { id: 0, firstBatch: [] } },
  )
  await say('listDatabases at the end', { listDatabases: 1, nameOnly: true, $db: 'admin' }, { ok: 1 })
}
