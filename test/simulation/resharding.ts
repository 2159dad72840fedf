/**
 * One resharding under a virtual clock, with working clients; one of its parties crashes at a named
 * step.
 */
import { createRandom, type Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { Ledger } from './ledger.js'
import { contents, LedgerWorker } from './ledger-worker.js'
import { losses, repeatedly } from './migration.js'
import {
  createClusterFor,
  differencesInSets,
  failParty,
  primaryOf,
  setOnShards,
  storedOn,
  type PartyFailure,
} from './party-failure.js'
import { PatientClient } from './patient-client.js'

/** All steps of a committed resharding, in about the order in which they are passed. */
export const reshardingSteps = [
  'shard.resharding.requested',
  'config.resharding.started',
  'config.resharding.prepared',
  'shard.resharding.donor-started',
  'config.resharding.donors-ready',
  'shard.resharding.recipient-started',
  'shard.resharding.collection-created',
  'config.resharding.recipients-asked',
  'shard.resharding.batch-stored',
  'shard.resharding.cloned',
  'config.resharding.cloned',
  'shard.resharding.applied',
  'config.resharding.caught-up',
  'shard.resharding.writes-blocked',
  'config.resharding.writes-blocked',
  'shard.resharding.draining',
  'shard.resharding.consistent',
  'config.resharding.consistent',
  'config.resharding.before-commit',
  'config.resharding.committed',
  'shard.resharding.outcome-received',
  'shard.resharding.outcome-applied',
  'config.resharding.participants-told',
  'config.resharding.finished',
] as const

/** Steps that only an aborted resharding passes. */
export const abortSteps = [
  'config.resharding.aborting',
  'config.resharding.participants-aborted',
  'config.resharding.aborted',
] as const

export type ReshardingStep = (typeof reshardingSteps)[number] | (typeof abortSteps)[number]

/** `primary` and `donor` send and receive documents, `recipient` only receives them. */
export type Party = 'primary' | 'donor' | 'recipient' | 'config'

/** The collection gets another key, or is moved to one shard. */
export type Command = 'reshardCollection' | 'unshardCollection'

export interface Scene {
  readonly seed: number
  readonly command: Command
  readonly step: ReshardingStep
  /**
   * The party that crashes while a member is held at the step. `abort`: the resharding is aborted
   * there; `severed`: connections between the parties break there repeatedly; `fail`: the step
   * itself fails.
   */
  readonly disruption: Party | 'abort' | 'severed' | 'fail'
  /** Of a party. Default `restart`. */
  readonly failure?: PartyFailure
  /** Whether messages are lost, as for a migration. */
  readonly loss: boolean
}

export interface Outcome {
  /** Violations at the end, one sentence each. */
  readonly violations: readonly string[]
  /** Whether the step was passed. */
  readonly struck: boolean
  readonly committed: boolean
  /** Code of the reply to the client; 0: acknowledged, null: no reply. */
  readonly code: number | null
}

const documents = 30
const workers = 3
const operationsOfWorker = 16
/** Longer than all parties need to learn the outcome. */
const settleMs = 30_000

export async function playResharding({
  seed,
  step,
  disruption,
  failure = 'restart',
  command,
  loss,
}: Scene): Promise<Outcome> {
  const balancerRoundIntervalMs = 10 * settleMs
  const emulate = command === 'reshardCollection' ? '7.0' : '8.0'
  const options = {
    seed,
    emulate,
    shards: 3,
    mongos: 2,
    findReplicaSetHostTimeoutMs: 1000,
    balancerRoundIntervalMs,
  } as const
  const cluster = await createClusterFor(failure, options)
  const abort = {
    [command === 'reshardCollection' ? 'abortReshardCollection' : 'abortUnshardCollection']: 'app.c',
    $db: 'admin',
  }
  const random = createRandom(seed).fork('resharding')
  const admin = new PatientClient(cluster, random.fork('admin'))
  const ledger = new Ledger()
  const [primary, donor, recipient] = cluster.shards as [string, string, string]
  await prepare(cluster, admin, ledger, primary, donor)
  const members: Record<Party, string> = { primary, donor, recipient, config: 'config' }
  const losing = loss ? await cluster.faults.apply(losses) : null
  const hold = disruption !== 'fail'
  const fault = await cluster.steps.arm(step, hold ? 'hold' : 'fail', { times: 1 })
  const isAbortStep = (abortSteps as readonly string[]).includes(step)
  let struck = false
  const played = cluster.steps.struck(fault).then(async () => {
    struck = true
    if (!hold) return
    if (disruption === 'abort') {
      const aborting = admin.once(abort)
      await cluster.advance(random.fraction() * 100)
      await cluster.steps.heal(fault)
      await aborting
      return
    }
    if (disruption === 'severed') {
      await cluster.steps.heal(fault)
      await severAtRandom(cluster, Object.values(members), random.fork('severed'))
      return
    }
    await failParty(cluster, members[disruption], failure, random, () => cluster.steps.heal(fault))
  })
  const client = new PatientClient(cluster, random.fork('resharding client'))
  const asked =
    command === 'reshardCollection'
      ? { reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 3, $db: 'admin' }
      : { unshardCollection: 'app.c', toShard: recipient, $db: 'admin' }
  const resharding = repeatedly(client, asked, loss ? 6 : 1)
  // An aborted resharding passes other steps.
  const other = new PatientClient(cluster, random.fork('aborting client'))
  const aborting = isAbortStep ? abortSoon(cluster, other, abort, random.fork('abort')) : Promise.resolve()
  const worlds = Array.from({ length: workers }, (_, i) => {
    const worker = new PatientClient(cluster, random.fork(`client ${i}`))
    return work(worker, ledger, random.fork(`work ${i}`), i)
  })
  await Promise.all(worlds)
  const reply = await resharding
  await aborting
  if (losing !== null) await cluster.faults.heal(losing.id)
  await cluster.advance(settleMs)
  if (struck) await played
  const entry = await entryOf(admin)
  const committed = Object.keys(entry['key'] as object)[0] !== 'k'
  const violations = [
    ...ledger.violations('document', await contents(admin)),
    ...(await leftovers(cluster, admin, entry)),
  ]
  if (failure !== 'restart') violations.push(...(await differencesInSets(cluster)))
  const code = reply === null ? null : reply['ok'] === 1 ? 0 : (reply['code'] as number)
  if (code === 0 && !committed) violations.push('it was acknowledged and has not happened')
  if (code === 341 && committed) violations.push('it was given up and has happened')
  await cluster.stop()
  return { violations, struck, committed, code }
}

async function severAtRandom(cluster: SimulatedCluster, members: readonly string[], random: Random): Promise<void> {
  for (let i = 0; i < 12; i++) {
    const [one, other] = random.shuffled(members)
    cluster.sever(one!, other!)
    await cluster.advance(random.fraction() * 20)
  }
}

async function abortSoon(
  cluster: SimulatedCluster,
  client: PatientClient,
  abort: Document,
  random: Random,
): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt++) {
    await cluster.advance(random.fraction() * 8)
    const reply = await client.once(abort)
    if (reply !== null && reply['ok'] === 1) return
  }
}

async function prepare(
  cluster: SimulatedCluster,
  admin: PatientClient,
  ledger: Ledger,
  primary: string,
  donor: string,
): Promise<void> {
  await admin.untilDone({ enableSharding: 'app', primaryShard: primary, $db: 'admin' })
  await admin.untilDone({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  await admin.untilDone({ split: 'app.c', middle: { k: documents / 2 }, $db: 'admin' })
  await admin.untilDone({ moveChunk: 'app.c', find: { k: documents }, to: donor, _waitForDelete: true, $db: 'admin' })
  const keys = Array.from({ length: documents }, (_, i) => i)
  await admin.writeRetryably({
    command: { insert: 'c', $db: 'app' },
    documents: keys.map((k) => ({ _id: k, k, m: initialValue(k), n: 0 })),
    field: 'documents',
  })
  for (const key of keys) ledger.inserted(key, true)
  // Small batches, so that there are several.
  await setOnShards(cluster, { migrateCloneInsertionBatchSize: 5 })
}

/** Increments, changes of the new key, inserts, deletes and finds. */
async function work(client: PatientClient, ledger: Ledger, random: Random, number: number): Promise<void> {
  const keys = Array.from({ length: documents / workers }, (_, i) => i * workers + number)
  /** The new shard key's value of each document, which only this client changes. */
  const values = new Map(keys.map((key) => [key, initialValue(key)]))
  const filter = (key: number) => ({ m: values.get(key)! })
  const fill = (key: number) => {
    values.set(key, random.below(100))
    return filter(key)
  }
  const worker = new LedgerWorker({ client, ledger, keys, nextKey: 1000 + number * 1000, fill, filter })
  for (let i = 0; i < operationsOfWorker; i++) {
    const key = worker.keys[random.below(worker.keys.length)]!
    const choice = random.below(10)
    if (choice < 4) await worker.increment(key)
    else if (choice < 6) values.set(key, await changeKey(client, key, filter(key), random.below(100)))
    else if (choice < 8) await worker.insert()
    else if (choice < 9 && worker.keys.length > 3) await worker.delete(key)
    else await worker.find()
    await client.pause(6)
  }
}

const snapshotUnavailable = 246

/**
 * After the commit the document moves for this update, and a retry fails because the update has
 * become a transaction: with 217 it was done, and with 246 another one does it.
 */
async function changeKey(client: PatientClient, key: number, filter: Document, m: number): Promise<number> {
  const query = { _id: key, k: key, ...filter }
  const command = { findAndModify: 'c', query, update: { $set: { m } }, $db: 'app' }
  for (;;) {
    const { code } = await client.retryably(command, () => null, [217, snapshotUnavailable])
    if (code !== snapshotUnavailable) return m
    await client.pause(50)
  }
}

const initialValue = (key: number): number => (key * 31) % 100

/** Documents on shards that do not own them, and records that are left of the resharding. */
async function leftovers(cluster: SimulatedCluster, admin: PatientClient, entry: Document): Promise<string[]> {
  const wrong: string[] = []
  const find = async (collection: string, filter: Document = {}): Promise<Document[]> =>
    (await admin.untilDone({ find: collection, filter, batchSize: 10_000, $db: 'config' }))['cursor'].firstBatch
  const chunks = (await find('chunks')).filter(({ uuid }) => String(uuid) === String(entry['uuid']))
  if ((await find('chunks')).length !== chunks.length) wrong.push('chunks of another collection are left')
  for (const document of await find('reshardingOperations'))
    wrong.push(`config.reshardingOperations has ${JSON.stringify(document)}`)
  const entries = await find('collections')
  if (entries.length !== 1) wrong.push(`config.collections has ${entries.map(({ _id }) => _id).join()}`)
  for (const name of ['reshardingFields', 'allowMigrations'])
    if (name in entry) wrong.push(`the collection's entry has ${name}`)
  const path = Object.keys(entry['key'] as object)[0]!
  for (const shard of cluster.shards) {
    const direct = (collection: string, db: string) => storedOn(cluster, shard, db, collection)
    const bound = (value: unknown, end: number) => (typeof value === 'number' ? value : end)
    const owned = chunks
      .filter((chunk) => chunk['shard'] === shard)
      .map(({ min, max }) => [bound(min[path], -Infinity), bound(max[path], Infinity)] as const)
    for (const document of await direct('c', 'app')) {
      const value = document[path] as number
      if (!owned.some(([min, max]) => value >= min && value < max))
        wrong.push(`${shard} keeps the orphan ${document['_id']}`)
    }
    for (const name of [
      'localReshardingOperations.donor',
      'localReshardingOperations.recipient',
      'system.sharding_ddl_coordinators',
    ])
      for (const document of await direct(name, 'config'))
        wrong.push(`${shard} has in ${name} ${JSON.stringify(document)}`)
    const to = await primaryOf(cluster, shard)
    const listed = decode(await cluster.command(encode({ listCollections: 1, $db: 'app' }), { to }))
    for (const { name } of listed['cursor']['firstBatch'] as { name: string }[])
      if (name !== 'c') wrong.push(`${shard} has a collection ${name}`)
  }
  return wrong
}

async function entryOf(admin: PatientClient): Promise<Document> {
  const { cursor } = await admin.untilDone({ find: 'collections', filter: { _id: 'app.c' }, $db: 'config' })
  return cursor.firstBatch[0]
}
