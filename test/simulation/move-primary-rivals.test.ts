/**
 * A movePrimary whose coordinator was replaced as primary of its set and does not know it yet: it
 * reaches the config server and the new primary shard, but not the other members of its set.
 */
import { createRandom } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { stepsWithOriginals } from './move-primary-steps.js'
import { PatientClient } from './patient-client.js'
import { skipCatchUp } from './skip-catch-up.js'

const rows = Array.from({ length: 40 }, (_, _id) => ({ _id, padding: 'x'.repeat(60_000) }))

async function play(step: (typeof stepsWithOriginals)[number], resumesAfterMs: number): Promise<string[]> {
  await using cluster = await createSimulatedCluster({
    ...{ seed: 1, shards: 2, mongos: 2, members: 3, serverTimings: false, findReplicaSetHostTimeoutMs: 1000 },
    emulate: '6.0',
  })
  const client = await fill(cluster)
  const fault = await cluster.steps.arm(step, 'hold', { times: 1 })
  const moving = new PatientClient(cluster, createRandom(2)).once({ movePrimary: 'app', to: 'shard02', $db: 'admin' })
  await cluster.steps.struck(fault)
  for (const other of ['shard01-2', 'shard01-3'])
    await cluster.faults.apply(`partition shard01-1 from ${other} for 20s`)
  for (const router of cluster.mongos)
    await cluster.faults.apply(`refuse connections to shard01-1 from ${router} for 20s`)
  const elected = await ask(cluster, { replSetStepUp: 1 }, 'shard01-2')
  if (elected['ok'] !== 1) throw new Error(`no rival: ${elected['errmsg'] as string}`)
  await cluster.advance(resumesAfterMs)
  await cluster.steps.heal(fault)
  await insertOne(client)
  await moving
  await cluster.advance(60_000)
  const problems = await check(cluster, client)
  const next = (await primaryOf(client)) === 'shard01' ? 'shard02' : 'shard01'
  const again = await client.untilDone({ movePrimary: 'app', to: next, $db: 'admin' })
  if (again['ok'] !== 1) problems.push(`another move fails: ${JSON.stringify(again)}`)
  return [...problems, ...(await check(cluster, client))]
}

async function fill(cluster: SimulatedCluster): Promise<PatientClient> {
  await skipCatchUp(cluster, 'shard01-1')
  const client = new PatientClient(cluster, createRandom(1))
  await client.untilDone({ enableSharding: 'app', primaryShard: 'shard01', $db: 'admin' })
  await client.writeRetryably({ command: { insert: 'plain', $db: 'app' }, documents: rows, field: 'documents' })
  return client
}

async function ask(cluster: SimulatedCluster, command: Document, to: string): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: 'admin' }), { to }))
}

/** Unsharded collections refuse changes during the copy. */
async function insertOne(client: PatientClient): Promise<void> {
  for (;;) {
    const reply = await client.once({ insert: 'plain', documents: [{ _id: 1000 }], $db: 'app' })
    const code = (reply?.['writeErrors'] as Document[] | undefined)?.[0]?.['code'] as number | undefined
    if ((reply?.['ok'] === 1 && code === undefined) || code === 11_000) return
    await client.pause(20)
  }
}

async function check(cluster: SimulatedCluster, client: PatientClient): Promise<string[]> {
  const { n } = await client.untilDone({ count: 'plain', $db: 'app' })
  const holders: string[] = []
  for (const to of cluster.shards) {
    const reply = decode(await cluster.command(encode({ listCollections: 1, nameOnly: true, $db: 'app' }), { to }))
    const names = ((reply['cursor'] as Document)['firstBatch'] as Document[]).map(({ name }) => name as string)
    if (names.includes('plain')) holders.push(to)
  }
  const primary = await primaryOf(client)
  return [
    ...(n === rows.length + 1 ? [] : [`${n as number} of ${rows.length + 1} documents`]),
    ...(holders.join() === primary ? [] : [`the collection of ${primary} is on ${holders.join()}`]),
  ]
}

async function primaryOf(client: PatientClient): Promise<string> {
  const { cursor } = await client.untilDone({ find: 'databases', filter: { _id: 'app' }, $db: 'config' })
  return (cursor as Document)['firstBatch'][0].primary as string
}

/** At once, and only when the next coordinator is at work. */
const pausesMs = process.env['SHARDLAB_LONG'] === '1' ? [0, 500] : [500]

for (const step of stepsWithOriginals)
  t.test(
    `after the coordinator was replaced at ${step}, the primary shard alone has all documents, and another move succeeds`,
    async (t) => {
      for (const resumesAfterMs of pausesMs) t.same(await play(step, resumesAfterMs), [], `after ${resumesAfterMs} ms`)
    },
  )

/**
 * The middle member commits by a record of an earlier term that no majority has, and another one,
 * without it, becomes primary after that.
 */
t.test('a record that another primary may undo does not commit a move', async (t) => {
  await using cluster = await createSimulatedCluster({
    ...{ seed: 1, shards: 2, mongos: 1, members: 3, serverTimings: false, findReplicaSetHostTimeoutMs: 1000 },
    emulate: '6.0',
  })
  const client = await fill(cluster)
  const separate = async (one: number, other: number) =>
    (await cluster.faults.apply(`partition shard01-${one} from shard01-${other}`)).id
  const stepUp = async (member: number) =>
    t.match(await ask(cluster, { replSetStepUp: 1 }, `shard01-${member}`), { ok: 1 }, `shard01-${member} is primary`)

  const fault = await cluster.steps.arm('shard.move-primary.critical-section', 'hold', { times: 1 })
  const moving = new PatientClient(cluster, createRandom(2)).once({ movePrimary: 'app', to: 'shard02', $db: 'admin' })
  await cluster.steps.struck(fault)
  const apart12 = await separate(1, 2)
  const apart13 = await separate(1, 3)
  await stepUp(2)
  await separate(2, 3)
  // shard01-2 gives the move up, and shard01-1 continues it; no majority has either.
  await cluster.steps.heal(fault)
  await cluster.advance(100)
  await cluster.faults.heal(apart13)
  await cluster.advance(1500)
  await stepUp(3)
  await separate(1, 3)
  await cluster.advance(1000)
  await cluster.faults.heal(apart12)
  await cluster.advance(1000)
  await stepUp(2)
  await cluster.advance(5000)
  await cluster.faults.heal()
  await insertOne(client)
  await moving
  await cluster.advance(60_000)
  t.same(await check(cluster, client), [])
})
