/**
 * movePrimary under a virtual clock, with a working client; one of its parties crashes at a named
 * step.
 */
import { createRandom } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { stepsWithOriginals } from './move-primary-steps.js'
import { PatientClient } from './patient-client.js'

const steps = [...stepsWithOriginals, 'shard.move-primary.cleaned'] as const

const parties = ['donor', 'recipient', 'config', null] as const
const documents = 40
const inserts = 60

interface Scene {
  readonly step: (typeof steps)[number]
  /**
   * The party that crashes while the donor is held at the step; null: none, the step itself fails.
   */
  readonly crash: (typeof parties)[number]
}

async function play({ step, crash }: Scene): Promise<string[]> {
  const seed = steps.indexOf(step) * parties.length + parties.indexOf(crash) + 1
  await using cluster = await createSimulatedCluster({ seed, shards: 2, mongos: 2, findReplicaSetHostTimeoutMs: 1000 })
  const random = createRandom(seed).fork('move-primary')
  const admin = new PatientClient(cluster, random.fork('admin'))
  const [donor, recipient] = cluster.shards as [string, string]
  await prepare(admin, donor)
  const victim = { donor, recipient, config: 'config' }[crash ?? 'donor']
  const fault = await cluster.steps.arm(step, crash === null ? 'fail' : 'hold', { times: 1 })
  const crashed = cluster.steps.struck(fault).then(async () => {
    if (crash === null) return
    await cluster.crash(victim)
    await cluster.steps.heal(fault)
    await cluster.advance(200)
    await cluster.restart(victim)
  })
  const moving = admin.once({ movePrimary: 'app', to: recipient, $db: 'admin' })
  const inserted = await insertMeanwhile(new PatientClient(cluster, random.fork('writer')))
  const reply = await moving
  await crashed
  await cluster.advance(60_000)
  const problems = await check(cluster, admin, inserted)
  const primary = await primaryOf(admin)
  if (reply?.['ok'] === 1 && primary !== recipient) problems.push('the move was acknowledged and has not happened')
  const next = primary === donor ? recipient : donor
  const again = await admin.untilDone({ movePrimary: 'app', to: next, $db: 'admin' })
  if (again['ok'] !== 1 || (await primaryOf(admin)) !== next)
    problems.push(`another move fails: ${JSON.stringify(again)}`)
  return [...problems, ...(await check(cluster, admin, inserted))]
}

async function prepare(admin: PatientClient, donor: string): Promise<void> {
  await admin.untilDone({ enableSharding: 'app', primaryShard: donor, $db: 'admin' })
  await admin.untilDone({ shardCollection: 'app.sharded', key: { _id: 1 }, $db: 'admin' })
  const rows = Array.from({ length: documents }, (_, _id) => ({ _id, x: _id % 5, padding: 'x'.repeat(60_000) }))
  await admin.writeRetryably({ command: { insert: 'plain', $db: 'app' }, documents: rows, field: 'documents' })
  await admin.writeRetryably({
    command: { insert: 'sharded', $db: 'app' },
    documents: [{ _id: 1 }, { _id: 2 }],
    field: 'documents',
  })
  await admin.untilDone({ createIndexes: 'plain', indexes: [{ key: { x: 1 }, name: 'x_1' }], $db: 'app' })
  await admin.untilDone({ create: 'view', viewOn: 'plain', pipeline: [{ $match: { x: 0 } }], $db: 'app' })
  await admin.untilDone({ create: 'capped', capped: true, size: 4096, $db: 'app' })
}

/** Inserts one document after the other, each until it certainly exists. */
async function insertMeanwhile(client: PatientClient): Promise<number[]> {
  const inserted: number[] = []
  for (let i = 0; i < inserts; i++) {
    const _id = 1000 + i
    for (;;) {
      const reply = await client.once({ insert: 'plain', documents: [{ _id, x: 9 }], $db: 'app' })
      const [error] = (reply?.['writeErrors'] ?? []) as Document[]
      if ((reply?.['ok'] === 1 && error === undefined) || error?.['code'] === 11000) break
      await client.pause(20)
    }
    inserted.push(_id)
    await client.pause(3)
  }
  return inserted
}

async function check(cluster: SimulatedCluster, admin: PatientClient, inserted: readonly number[]): Promise<string[]> {
  const problems: string[] = []
  const batch = async (command: Document) =>
    ((await admin.untilDone(command))['cursor'] as Document)['firstBatch'] as Document[]
  const ids = (await batch({ find: 'plain', projection: { _id: 1 }, batchSize: 10_000, $db: 'app' })).map(
    (document) => document['_id'] as number,
  )
  const expected = [...Array.from({ length: documents }, (_, i) => i), ...inserted]
  if (JSON.stringify(ids.toSorted((a, b) => a - b)) !== JSON.stringify(expected))
    problems.push(`${ids.length} of ${expected.length} documents`)
  const view = await batch({ find: 'view', projection: { _id: 1 }, batchSize: 10_000, $db: 'app' })
  if (view.length !== documents / 5) problems.push(`the view has ${view.length} documents`)
  if ((await batch({ find: 'sharded', $db: 'app' })).length !== 2) problems.push('the sharded collection is not whole')
  const indexes = (await batch({ listIndexes: 'plain', $db: 'app' })).map(({ name }) => name)
  if (indexes.join() !== '_id_,x_1') problems.push(`indexes are ${indexes.join()}`)
  const names = (await batch({ listCollections: 1, nameOnly: true, $db: 'app' })).map(({ name }) => name).toSorted()
  if (names.join() !== 'capped,plain,sharded,system.views,view') problems.push(`collections are ${names.join()}`)
  const holders = []
  for (const shard of cluster.shards) {
    const reply = decode(
      await cluster.command(encode({ listCollections: 1, nameOnly: true, $db: 'app' }), { to: shard }),
    )
    const local = (reply['cursor'] as Document)['firstBatch'] as Document[]
    if (local.some(({ name }) => name === 'plain')) holders.push(shard)
  }
  if (holders.join() !== (await primaryOf(admin))) problems.push(`the unsharded collection is on ${holders.join()}`)
  return problems
}

async function primaryOf(admin: PatientClient): Promise<string> {
  const reply = await admin.untilDone({ find: 'databases', filter: { _id: 'app' }, $db: 'config' })
  return String(((reply['cursor'] as Document)['firstBatch'] as Document[])[0]!['primary'])
}

for (const step of steps) {
  t.test(step, async (t) => {
    for (const crash of parties)
      t.same(await play({ step, crash }), [], crash === null ? 'the step fails' : `the ${crash} crashes`)
  })
}

/** A movePrimary from shard01 to shard02, held at the step. */
async function startMove(cluster: SimulatedCluster, step: string) {
  const admin = new PatientClient(cluster, createRandom(1))
  await prepare(admin, 'shard01')
  const fault = await cluster.steps.arm(step, 'hold', { times: 1 })
  const moving = admin.once({ movePrimary: 'app', to: 'shard02', $db: 'admin' })
  await cluster.steps.struck(fault)
  return { admin, fault, moving }
}

t.test('copying blocks changes, but not reads', async (t) => {
  for (const [emulate, refused, createWaits] of [
    ['2.6', false, false],
    ['4.0', false, false],
    ['4.4', true, false],
    ['8.0', true, true],
  ] as const) {
    await using cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate })
    const { admin, fault, moving } = await startMove(cluster, 'shard.move-primary.cloned')
    const { cursor } = (await admin.once({ find: 'plain', filter: { _id: 1 }, $db: 'app' }))!
    t.equal(cursor.firstBatch.length, 1, emulate)
    t.match(
      await admin.once({ insert: 'sharded', documents: [{ _id: 3 }], $db: 'app' }),
      { ok: 1, n: 1 },
      'a sharded collection is not concerned',
    )
    const changes = [
      { insert: 'plain', documents: [{ _id: -1 }], $db: 'app' },
      { update: 'plain', updates: [{ q: { _id: 1 }, u: { $set: { y: 1 } } }], $db: 'app' },
      { delete: 'plain', deletes: [{ q: { _id: 2 }, limit: 1 }], $db: 'app' },
      { findAndModify: 'plain', query: { _id: 3 }, update: { $set: { y: 1 } }, $db: 'app' },
      ...(createWaits ? [] : [{ create: 'another', $db: 'app' }]),
      { createIndexes: 'plain', indexes: [{ key: { y: 1 }, name: 'y_1' }], $db: 'app' },
    ]
    const codeOf = (reply: Document | null) =>
      ((reply?.['writeErrors'] ?? []) as Document[])[0]?.['code'] ?? reply?.['code']
    const answers = changes.map((change) => admin.once(change))
    const sharding = admin.once({ shardCollection: 'app.later', key: { _id: 1 }, $db: 'admin' })
    if (refused)
      t.same(
        (await Promise.all(answers)).map(codeOf),
        changes.map(() => 319),
        emulate,
      )
    else await cluster.advance(1000)
    await cluster.steps.heal(fault)
    t.match(await moving, { ok: 1 })
    if (!refused)
      t.same(
        (await Promise.all(answers)).map(codeOf),
        changes.map(() => undefined),
        emulate,
      )
    t.match(await sharding, { ok: 1 }, 'a coordinator waits for the end of the move')
    t.equal(await primaryOf(admin), 'shard02')
    const plain = (await admin.once({ find: 'plain', filter: { _id: { $in: [-1, 2] } }, $db: 'app' }))!
    t.same(
      plain['cursor'].firstBatch.map(({ _id }: Document) => _id),
      refused ? [2] : [-1],
      emulate,
    )
  }
})

t.test('no write enters a shard that restarts during the commit of its move', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 1, shards: 2 })
  const { admin, fault, moving } = await startMove(cluster, 'shard.move-primary.critical-section')
  await cluster.crash('config')
  await cluster.steps.heal(fault)
  await cluster.advance(100)
  await cluster.crash('shard01')
  await moving
  // The shard knows for that long neither what its majority has, nor the outcome of the commit.
  await cluster.faults.apply('slow disk of shard01 by 500ms')
  await cluster.restart('config')
  await cluster.restart('shard01')
  const inserted = await insertMeanwhile(new PatientClient(cluster, createRandom(2)))
  await cluster.faults.heal()
  await cluster.advance(60_000)
  t.equal(await primaryOf(admin), 'shard02')
  t.same(await check(cluster, admin, inserted), [])
})

t.test('a second movePrimary of the database joins the first or fails, and before 7.0 waits', async (t) => {
  for (const emulate of ['2.6', '6.0', '7.0', '8.0'] as const) {
    await using cluster = await createSimulatedCluster({ seed: 1, shards: 3, emulate })
    const { admin, fault, moving: first } = await startMove(cluster, 'shard.move-primary.cloned')
    const same = admin.once({ movePrimary: 'app', to: 'shard02', $db: 'admin' })
    const other = admin.once({ movePrimary: 'app', to: 'shard03', $db: 'admin' })
    await cluster.advance(1000)
    await cluster.steps.heal(fault)
    t.match(await first, { ok: 1 }, emulate)
    t.match(await same, { ok: 1 })
    if (emulate === '2.6' || emulate === '6.0') {
      t.match(await other, { ok: 1 })
      t.equal(await primaryOf(admin), 'shard03')
      continue
    }
    t.match(await other, {
      code: 117,
      errmsg: 'Another movePrimary operation with different arguments is already running ont the same database',
    })
    t.equal(await primaryOf(admin), 'shard02')
    t.match(
      await admin.once({ movePrimary: 'app', to: 'shard03', $db: 'admin' }),
      { ok: 1 },
      'afterwards it can move on',
    )
  }
})

t.test('until 6.0 a shard moves one database at a time', async (t) => {
  for (const [emulate, refused] of [
    ['2.6', false],
    ['4.0', true],
    ['6.0', true],
    ['7.0', false],
  ] as const) {
    await using cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate })
    const admin = new PatientClient(cluster, createRandom(1))
    await prepare(admin, 'shard01')
    await admin.untilDone({ enableSharding: 'other', $db: 'admin' })
    await admin.untilDone({ movePrimary: 'other', to: 'shard01', $db: 'admin' })
    const fault = await cluster.steps.arm('shard.move-primary.cloned', 'hold', { times: 1 })
    const first = admin.once({ movePrimary: 'app', to: 'shard02', $db: 'admin' })
    await cluster.steps.struck(fault)
    t.match(
      await admin.once({ movePrimary: 'other', to: 'shard02', $db: 'admin' }),
      refused
        ? {
            code: 117,
            errmsg:
              'Unable to start new movePrimary operation because this shard is currently moving its primary for namespace app to shard02',
          }
        : { ok: 1 },
      emulate,
    )
    await cluster.steps.heal(fault)
    t.match(await first, { ok: 1 })
    t.match(await admin.once({ movePrimary: 'other', to: 'shard02', $db: 'admin' }), { ok: 1 })
  }
})

t.test('movePrimary refuses invalid targets', async (t) => {
  for (const [emulate, missing, unknownReply, replies] of [
    [
      '2.6',
      "Could not move database 'app' to shard 'nope' :: caused by :: Shard nope not found",
      { code: 26 },
      [['primary'], ['primary']],
    ],
    [
      '4.0',
      "Could not move database 'app' to shard 'nope' :: caused by :: Shard nope not found",
      { code: 26 },
      [[], ['primary']],
    ],
    [
      '6.0',
      "Could not move database 'app' to shard 'nope' :: caused by :: Shard nope not found",
      { code: 26 },
      [[], []],
    ],
    ['7.0', 'Requested primary shard nope does not exist', { code: 26 }, [[], []]],
  ] as const) {
    await using cluster = await createSimulatedCluster({ seed: 1, shards: 3, emulate })
    const admin = new PatientClient(cluster, createRandom(1))
    await prepare(admin, 'shard01')
    const move = async (command: Document) => (await admin.once({ ...command, $db: 'admin' }))!
    t.match(await move({ movePrimary: 'app', to: 'nope' }), { code: 70, errmsg: missing }, emulate)
    t.match(await move({ movePrimary: 'nowhere', to: 'shard02' }), unknownReply, emulate)
    t.match(await move({ movePrimary: 'app' }), { code: 40414 })
    t.match(await move({ movePrimary: 'app', to: '' }), { code: 72 })
    t.match(await move({ movePrimary: 'app', to: 1 }), { code: 14 })
    t.match(await move({ movePrimary: 1, to: 'shard02' }), { code: 73 })
    for (const db of ['admin', 'config'])
      t.match(await move({ movePrimary: db, to: 'shard02' }), {
        code: 72,
        errmsg: `Can't move primary for ${db} database`,
      })
    t.equal(await primaryOf(admin), 'shard01', 'nothing of that changed anything')
    const fields = (reply: Document) =>
      Object.keys(reply).filter((name) => !['ok', '$clusterTime', 'operationTime'].includes(name))
    t.same(
      [await move({ movePrimary: 'app', to: 'shard02' }), await move({ movePrimary: 'app', to: 'shard02' })].map(
        fields,
      ),
      replies,
      emulate,
    )
  }
})

t.test('movePrimary fails for an existing collection, and for a draining shard', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 1, shards: 3 })
  const admin = new PatientClient(cluster, createRandom(1))
  await prepare(admin, 'shard01')
  await cluster.command(encode({ create: 'plain', $db: 'app' }), { to: 'shard02' })
  t.match(await admin.once({ movePrimary: 'app', to: 'shard02', $db: 'admin' }), {
    code: 48,
    errmsg: 'Found orphaned collection app.plain on recipient shard02',
  })
  t.match(await admin.once({ removeShard: 'shard03', $db: 'admin' }), { state: 'started' })
  t.match(await admin.once({ movePrimary: 'app', to: 'shard03', $db: 'admin' }), {
    code: 70,
    errmsg: 'Requested primary shard shard03 is draining',
  })
  t.equal(await primaryOf(admin), 'shard01')
})

t.test('movePrimary leaves the retry history behind, as on the server: a repeated write runs again', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 1, shards: 2 })
  const admin = new PatientClient(cluster, createRandom(1))
  await prepare(admin, 'shard01')
  const increment = {
    update: 'plain',
    updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }],
    lsid: { id: new Binary(Buffer.alloc(16, 1), 4) },
    txnNumber: Long.fromNumber(1),
    $db: 'app',
  }
  const valueOf = async () => {
    const reply = await admin.untilDone({ find: 'plain', filter: { _id: 1 }, $db: 'app' })
    return ((reply['cursor'] as Document)['firstBatch'] as Document[])[0]!['n'] as number
  }
  t.match(await admin.once(increment), { n: 1, nModified: 1 })
  t.match(await admin.once(increment), { n: 1, nModified: 1, retriedStmtIds: [0] })
  t.equal(await valueOf(), 1)
  t.match(await admin.once({ movePrimary: 'app', to: 'shard02', $db: 'admin' }), { ok: 1 })
  t.match(await admin.once(increment), { n: 1, nModified: 1, retriedStmtIds: undefined })
  t.equal(await valueOf(), 2)
})
