/**
 * Operations that conflict with a running resharding, and how long they wait; also without a config
 * server.
 */
import t from 'tap'
import { createRandom } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { PatientClient } from './patient-client.js'

const minuteMs = 60_000

interface World {
  readonly cluster: SimulatedCluster
  readonly admin: PatientClient
  readonly primary: string
  readonly other: string
  readonly client: (name: string) => PatientClient
}

async function begin(emulate: '5.0' | '6.0' | '7.0' | '8.0'): Promise<World> {
  const seed = 1
  const cluster = await createSimulatedCluster({
    seed,
    emulate,
    shards: 2,
    mongos: 1,
    balancerRoundIntervalMs: 100 * minuteMs,
  })
  const [primary, other] = cluster.shards as [string, string]
  const random = createRandom(seed)
  const client = (name: string): PatientClient => new PatientClient(cluster, random.fork(name))
  const admin = client('admin')
  await admin.untilDone({ enableSharding: 'app', primaryShard: primary, $db: 'admin' })
  await admin.untilDone({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  return { cluster, admin, primary, other, client }
}

const reshard: Document = { reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 1, $db: 'admin' }

const texts = {
  '5.0': 'Failed to acquire dist lock app locally',
  '6.0': 'Failed to acquire dist lock app locally',
  '7.0':
    "Failed to acquire DDL lock for namespace 'app' after 300000ms that is currently locked with reason 'reshardCollection'",
  '8.0': `Failed to acquire DDL lock for 'app' in mode X after 300000ms that is currently locked by '{"{ operation: "reshardCollection", lock mode: "IX" }"}'`,
} as const

for (const [emulate, errmsg] of Object.entries(texts) as ['5.0', string][]) {
  t.test(`${emulate}: movePrimary waits five minutes for a resharding in the database`, async (t) => {
    const { cluster, other, client } = await begin(emulate)
    const fault = await cluster.steps.arm('config.resharding.prepared', 'hold', { times: 1 })
    const resharding = client('resharding').once(reshard)
    await cluster.steps.struck(fault)
    const move = { movePrimary: 'app', to: other, $db: 'admin' }
    const moving = client('moving').once(move)
    let isAnswered = false
    void moving.then(() => (isAnswered = true))
    await cluster.advance(4.9 * minuteMs)
    t.notOk(isAnswered, 'not before')
    await cluster.advance(0.2 * minuteMs)
    t.match(await moving, { ok: 0, code: 46, codeName: 'LockBusy', errmsg })
    const patient = client('patient').once(move)
    await cluster.advance(minuteMs)
    await cluster.steps.heal(fault)
    t.match(await resharding, { ok: 1 })
    t.match(await patient, { ok: 1 }, 'a command whose wait has not ended moves it afterwards')
    await cluster.stop()
  })
}

for (const emulate of ['5.0', '7.0'] as const) {
  t.test(`D838 ${emulate}: a primary shard that restarts without a config server keeps its resharding`, async (t) => {
    const { cluster, admin, primary, other, client } = await begin(emulate)
    const fault = await cluster.steps.arm('config.resharding.prepared', 'hold', { times: 1 })
    const resharding = client('resharding').once(reshard)
    await cluster.steps.struck(fault)
    await cluster.crash('config')
    await cluster.crash(primary)
    await cluster.steps.heal(fault)
    await resharding
    await cluster.restart(primary)
    await cluster.advance(minuteMs)
    const records = async (): Promise<Document[]> => {
      const find = { find: 'system.sharding_ddl_coordinators', $db: 'config' }
      return decode(await cluster.command(encode(find), { to: primary }))['cursor']['firstBatch']
    }
    t.match(await records(), [{ _id: { operationType: 'reshardCollection' } }], 'a minute later')
    const held = await cluster.steps.arm('config.resharding.caught-up', 'hold', { times: 1 })
    await cluster.restart('config')
    await cluster.during(cluster.steps.struck(held))
    const moving = client('moving').once({ movePrimary: 'app', to: other, $db: 'admin' })
    let isAnswered = false
    void moving.then(() => (isAnswered = true))
    await cluster.advance(minuteMs)
    t.notOk(isAnswered, 'a move of the database waits for it')
    await cluster.steps.heal(held)
    t.match(await moving, { ok: 1 })
    const { cursor } = await admin.untilDone({ find: 'collections', filter: { _id: 'app.c' }, $db: 'config' })
    t.match(cursor.firstBatch, [{ key: { m: 1 } }], 'the resharding has completed')
    t.same(await records(), [])
    await cluster.stop()
  })
}

t.test('a resharding requested while the config server is down starts when it is up', async (t) => {
  const { cluster, admin, client } = await begin('7.0')
  await cluster.crash('config')
  const resharding = client('resharding').once(reshard)
  let isAnswered = false
  void resharding.then(() => (isAnswered = true))
  await cluster.advance(minuteMs)
  t.notOk(isAnswered)
  await cluster.restart('config')
  t.match(await resharding, { ok: 1 })
  const { cursor } = await admin.untilDone({ find: 'collections', filter: { _id: 'app.c' }, $db: 'config' })
  t.match(cursor.firstBatch, [{ key: { m: 1 } }])
  await cluster.stop()
})
