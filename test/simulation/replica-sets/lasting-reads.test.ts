/** Reads and cursors when their member becomes secondary or primary, by version. */
import { decode, encode, UUID, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import t, { type Test } from 'tap'
import { SetUnderTest } from './simulated-set.js'

const majority = { w: 'majority' }
const from = { $readPreference: { mode: 'secondaryPreferred' } }
const interrupted = { ok: 0, code: 11602, codeName: 'InterruptedDueToReplStateChange' }
/** More than one turn of a read computes. */
const many = 20_000

const few = 10

async function start(t: Test, emulate: EmulatedVersion, total: number): Promise<SetUnderTest> {
  const members = 3
  const set = await SetUnderTest.start({ seed: 1, emulate, members })
  t.teardown(() => set.stop())
  const documents = Array.from({ length: total }, (_, _id) => ({ _id, n: _id % 7 }))
  for (let i = 0; i < total; i += 1000)
    await set.command('rs-1', {
      insert: 'rows',
      documents: documents.slice(i, i + 1000),
      writeConcern: { w: members },
    })
  await set.command('rs-1', { create: 'tail', capped: true, size: 100_000 })
  await set.command('rs-1', { insert: 'tail', documents: [{ _id: 1 }], writeConcern: { w: members } })
  return set
}

/** A cursor on `rows` after its first batch, and a getMore that waits for documents of `tail`. */
async function open(
  set: SetUnderTest,
  member: string,
): Promise<{ rows: bigint; tail: bigint; waiting: Promise<Document> }> {
  const find = (command: Document) => set.command(member, { ...command, ...from })
  const { cursor } = await find({ find: 'rows', batchSize: 2, sort: { _id: 1 } })
  const tail = BigInt((await find({ find: 'tail', tailable: true, awaitData: true }))['cursor'].id as number)
  const waiting = set.command(member, { getMore: tail, collection: 'tail', maxTimeMS: 60_000 })
  return { rows: BigInt(cursor.id), tail, waiting }
}

/** Reads for several turns. `duringChange`: whether it ran when the member changed its state. */
function count(set: SetUnderTest, member: string): { readonly reply: Promise<Document>; duringChange: boolean } {
  let isRunning = true
  const reply = set.command(member, { count: 'rows', query: { n: 3 }, ...from }).finally(() => (isRunning = false))
  const counting = { reply, duringChange: false }
  set.runtime.onEvent((event) => {
    if (event.type === 'member-state' && event.member === member && isRunning) counting.duringChange = true
  })
  return counting
}

async function operationsOf(set: SetUnderTest, member: string): Promise<string[]> {
  const pipeline = [{ $currentOp: {} }]
  const { cursor } = await set.admin(member, { aggregate: 1, pipeline, cursor: {}, ...from })
  return (cursor.firstBatch as Document[]).map(({ command }) => Object.keys(command as Document)[0]!).toSorted()
}

const versions = ['4.0', '8.0', '4.4'] as const
for (const emulate of process.env['SHARDLAB_LONG'] === '1' ? versions : versions.slice(0, 2)) {
  const endsReads = emulate === '4.0'
  t.test(`${emulate}: a step-down ends ${endsReads ? 'running reads' : 'no reads'} and no idle cursor`, async (t) => {
    const set = await start(t, emulate, many)
    const { rows, tail, waiting } = await open(set, 'rs-1')
    const counting = count(set, 'rs-1')
    const updating = set.command('rs-1', { update: 'rows', updates: [{ q: {}, u: { $inc: { x: 1 } }, multi: true }] })
    const aggregating = set.command('rs-1', {
      aggregate: 'rows',
      pipeline: [{ $match: { n: 3 } }, { $out: 'copy' }],
      cursor: {},
    })
    await set.runtime.advance(1)
    const stepDown = set.admin('rs-1', { replSetStepDown: 60, force: true })
    t.match(await updating, interrupted, 'a write ends')
    t.ok([189, 11_602].includes((await aggregating)['code'] as number), 'and so does a pipeline that writes')
    t.match(await counting.reply, endsReads ? interrupted : { ok: 1, n: Math.ceil((many - 3) / 7) })
    await stepDown
    t.ok(counting.duringChange)
    const next = await set.primary()
    t.not(next, 'rs-1')
    const running = await operationsOf(set, 'rs-1')
    t.strictSame(running, endsReads ? ['aggregate'] : ['aggregate', 'getMore'])
    await set.command(next, { insert: 'tail', documents: [{ _id: 2 }], writeConcern: majority })
    t.match(await waiting, endsReads ? interrupted : { ok: 1, cursor: { nextBatch: [{ _id: 2 }] } })
    const again = await set.command('rs-1', { getMore: tail, collection: 'tail', maxTimeMS: 1 })
    t.match(again, endsReads ? { ok: 0, code: 43 } : { ok: 1 }, 'a read that ends closes its cursor')
    const { cursor } = await set.command('rs-1', { getMore: rows, collection: 'rows', batchSize: 3 })
    t.strictSame(
      (cursor.nextBatch as Document[]).map(({ _id }) => _id),
      [2, 3, 4],
    )
    const { cursorsKilled } = await set.command('rs-1', { killCursors: 'rows', cursors: [rows] })
    t.equal((cursorsKilled as unknown[]).length, 1)
  })

  t.test(`${emulate}: reads and cursors of a secondary continue when it becomes primary`, async (t) => {
    const set = await start(t, emulate, many)
    const { rows, waiting } = await open(set, 'rs-2')
    const elected = set.admin('rs-2', { replSetStepUp: 1 })
    let duringChange = false
    while (!duringChange) {
      const counting = count(set, 'rs-2')
      t.match(await counting.reply, { ok: 1, n: Math.ceil((many - 3) / 7) })
      ;({ duringChange } = counting)
    }
    t.match(await elected, { ok: 1 })
    t.equal(await set.primary(), 'rs-2')
    await set.command('rs-2', { insert: 'tail', documents: [{ _id: 2 }] })
    t.match(await waiting, { ok: 1, cursor: { nextBatch: [{ _id: 2 }] } })
    const { cursor } = await set.command('rs-2', { getMore: rows, collection: 'rows', batchSize: 2 })
    t.match(cursor, { nextBatch: [{ _id: 2 }, { _id: 3 }] })
    t.match(await set.command('rs-2', { getMore: rows, collection: 'rows', batchSize: many }), {
      cursor: { id: 0 },
    })
  })
}

t.test('a read outlasts two changes of the state, and killOp still ends it', async (t) => {
  const set = await start(t, '8.0', few)
  const { waiting } = await open(set, 'rs-1')
  await set.admin('rs-1', { replSetStepDown: 1, force: true, secondaryCatchUpPeriodSecs: 0 })
  t.not(await set.primary(), 'rs-1')
  await set.runtime.advance(2000)
  t.match(await set.admin('rs-1', { replSetStepUp: 1 }), { ok: 1 })
  t.equal(await set.primary(), 'rs-1')
  const pipeline = [{ $currentOp: {} }, { $match: { op: 'getmore' } }]
  const { cursor } = await set.admin('rs-1', { aggregate: 1, pipeline, cursor: {} })
  const [operation] = cursor.firstBatch as { opid: number }[]
  t.match(await set.admin('rs-1', { killOp: 1, op: operation!.opid }), { ok: 1 })
  t.match(await waiting, { ok: 0, code: 11601, codeName: 'Interrupted' })
  t.strictSame(await operationsOf(set, 'rs-1'), ['aggregate'])
})

t.test('explain outlasts a step-down as the command that it explains', async (t) => {
  const set = await start(t, '8.0', many)
  const explain = (command: Document) => set.command('rs-1', { explain: command, verbosity: 'executionStats', ...from })
  const reading = explain({ find: 'rows', filter: { n: 3 } })
  await set.runtime.advance(1)
  await set.admin('rs-1', { replSetStepDown: 60, force: true })
  t.match(await reading, { ok: 1, executionStats: { nReturned: Math.ceil((many - 3) / 7) } })
})

t.test('D906: a read that waits for a cluster time ends with the state of its member', async (t) => {
  const set = await start(t, '8.0', few)
  const heal = await set.isolate('rs-1')
  const { operationTime } = await set.command('rs-1', {
    insert: 'tail',
    documents: [{ _id: 2 }],
    writeConcern: { w: 1 },
  })
  const readConcern = { level: 'majority', afterClusterTime: operationTime as unknown }
  const reading = set.command('rs-1', { count: 'tail', readConcern, ...from })
  await set.runtime.advance(10)
  await set.admin('rs-1', { replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0, force: true })
  t.match(await reading, interrupted)
  await heal()
})

t.test('a transaction and its cursors end with the state of their member', async (t) => {
  const set = await start(t, '8.0', few)
  const lsid = { id: new UUID('01234567-89ab-4def-8123-456789abcdef') }
  const inside = { lsid, txnNumber: 1n, autocommit: false }
  const { cursor } = await set.command('rs-1', { find: 'rows', batchSize: 2, ...inside, startTransaction: true })
  await set.admin('rs-1', { replSetStepDown: 1, force: true, secondaryCatchUpPeriodSecs: 0 })
  await set.primary()
  t.match(await set.command('rs-1', { getMore: BigInt(cursor.id), collection: 'rows' }), { ok: 0, code: 43 })
})

t.test('a rollback ends reads and cursors', async (t) => {
  const set = await start(t, '8.0', few)
  const heal = await set.isolate('rs-1')
  await set.command('rs-1', { insert: 'rows', documents: [{ _id: -1 }], writeConcern: { w: 1 } })
  const { rows, waiting } = await open(set, 'rs-1')
  await set.runtime.advance(8000)
  t.not(await set.primary(), 'rs-1')
  t.match(await set.command('rs-1', { getMore: rows, collection: 'rows', batchSize: 1 }), {
    cursor: { nextBatch: [{ _id: 1 }] },
  })
  await heal()
  await set.settle()
  t.match(await waiting, interrupted)
  t.match(await set.command('rs-1', { getMore: rows, collection: 'rows' }), { ok: 0, code: 43 })
})

t.test(
  'cursors of a router outlast step-downs of shards, and see every document once while a chunk moves',
  async (t) => {
    for (const emulate of ['4.0', '4.4', '8.0'] as const) {
      const cluster = await createSimulatedCluster({ seed: 1, emulate, shards: 2, members: 3, serverTimings: false })
      t.teardown(() => cluster.stop())
      const ask = async (command: Document, to?: string): Promise<Document> => {
        const body = encode({ ...command, $db: command['$db'] ?? 'app' })
        return decode(await cluster.command(body, to === undefined ? {} : { to }), { promoteLongs: true })
      }
      const admin = async (command: Document, to?: string) => {
        const reply = await ask({ ...command, $db: 'admin' }, to)
        t.match(reply, { ok: 1 }, Object.keys(command)[0]!)
      }
      await admin({ enableSharding: 'app', ...(emulate === '4.0' ? {} : { primaryShard: 'shard01' }) })
      await admin({ shardCollection: 'app.things', key: { x: 1 } })
      await admin({ balancerStop: 1 })
      await admin({ split: 'app.things', middle: { x: 0 } })
      await admin({ moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' })
      await admin({ moveChunk: 'app.things', find: { x: -1 }, to: 'shard01' })
      const wanted = Array.from({ length: 40 }, (_, i) => i - 20)
      const documents = wanted.map((x) => ({ _id: x, x }))
      t.match(await ask({ insert: 'things', documents, writeConcern: majority }), { ok: 1, n: 40 })
      const pipeline = [{ $match: { x: { $lt: 1000 } } }, { $sort: { x: 1 } }]
      const opened = {
        sorted: await ask({ find: 'things', sort: { x: 1 }, batchSize: 2 }),
        merged: await ask({ aggregate: 'things', pipeline, cursor: { batchSize: 2 } }),
      }
      await admin({ moveChunk: 'app.things', find: { x: -1 }, to: 'shard02' })
      const states = await Promise.all(cluster.membersOf('shard01').map((member) => cluster.describe(member)))
      const before = cluster.membersOf('shard01')[states.findIndex(({ isWritable }) => isWritable === true)]!
      await admin({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 10 }, before).catch(() => {})
      await cluster.advance(5000)
      for (const [name, { cursor: first }] of Object.entries(opened)) {
        const found = [...(first.firstBatch as Document[])]
        for (let id = BigInt(first.id as number); id !== 0n;) {
          const { cursor } = await ask({ getMore: id, collection: 'things', batchSize: 3 })
          found.push(...(cursor.nextBatch as Document[]))
          id = BigInt(cursor.id as number)
        }
        t.strictSame(
          found.map(({ x }) => x as number),
          wanted,
          `${emulate}: ${name}`,
        )
      }
      t.match(await ask({ insert: 'things', documents: [{ _id: 99, x: -99 }] }), { ok: 1, n: 1 })
    }
  },
)
