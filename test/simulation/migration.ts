/**
 * One migration under a virtual clock, with working clients; one of its parties crashes at a named
 * step.
 */
import { createRandom, type Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { MigrationEvent, SimulatedCluster } from '@shardlab/cluster'
import { Ledger } from './ledger.js'
import { contents, LedgerWorker } from './ledger-worker.js'
import {
  createClusterFor,
  differencesInSets,
  failParty,
  setOnShards,
  storedOn,
  type PartyFailure,
} from './party-failure.js'
import { PatientClient } from './patient-client.js'

/** All steps of a migration, in about the order in which they are passed. */
export const migrationSteps = [
  'config.migration.requested',
  'shard.migration.started',
  'shard.migration.begun',
  'shard.migration.recipient-asked',
  'shard.migration.recipient-started',
  'shard.migration.recipient-prepared',
  'shard.migration.recipient-batch-stored',
  'shard.migration.recipient-cloned',
  'shard.migration.recipient-steady',
  'shard.migration.caught-up',
  'shard.migration.writes-blocked',
  'shard.migration.recipient-draining',
  'shard.migration.recipient-done',
  'shard.migration.recipient-committed',
  'shard.migration.committing',
  'config.migration.before-commit',
  'config.migration.committed',
  'shard.migration.committed',
  'shard.migration.decided',
  'shard.migration.applied',
  'shard.migration.recipient-released',
  'shard.migration.recipient-told',
  'shard.migration.forgotten',
  'shard.range-deleter.started',
  'shard.range-deleter.emptied',
] as const

export type Party = 'donor' | 'recipient' | 'config'

export interface Scene {
  readonly seed: number
  readonly step: (typeof migrationSteps)[number]
  /**
   * The party that fails while a member is held at the step; null: none, the step itself fails.
   */
  readonly crash: Party | null
  /** Default `restart`. */
  readonly failure?: PartyFailure
  /**
   * Whether one of twenty messages between members, and its connection, is lost while clients work.
   */
  readonly loss: boolean
}

export interface Outcome {
  /** Violations at the end, one sentence each. */
  readonly violations: readonly string[]
  /** Whether the step was passed. */
  readonly struck: boolean
  readonly moved: boolean
}

const documents = 60
const cut = 30
const workers = 3
const operationsOfWorker = 16
/** The fault of a lossy network. */
export const losses = 'drop 5% between members and members'
/** Longer than orphans are kept. */
const cleanupMs = 920_000
/** Longer than all parties with sets need. */
const settleMs = 60_000

export async function playMigration({ seed, step, crash, failure = 'restart', loss }: Scene): Promise<Outcome> {
  const isOfSets = failure !== 'restart'
  // Rounds of the balancer would take half of the time.
  const balancerRoundIntervalMs = 2 * cleanupMs
  const cluster = await createClusterFor(failure, {
    seed,
    shards: 2,
    mongos: 2,
    findReplicaSetHostTimeoutMs: 1000,
    balancerRoundIntervalMs,
  })
  const random = createRandom(seed).fork('migration')
  const admin = new PatientClient(cluster, random.fork('admin'))
  const ledger = new Ledger()
  const [donor, recipient] = cluster.shards as [string, string]
  await prepare(admin, ledger, donor)
  // Small batches, so that there are several.
  await setOnShards(cluster, { migrateCloneInsertionBatchSize: 10 })
  const events: MigrationEvent[] = []
  cluster.onEvent((event) => void (event.type === 'migration' && events.push(event)))
  const members: Record<Party, string> = { donor, recipient, config: 'config' }
  const losing = loss ? await cluster.faults.apply(losses) : null
  const fault = await cluster.steps.arm(step, crash === null ? 'fail' : 'hold', { times: 1 })
  let struck = false
  const crashed = cluster.steps.struck(fault).then(async () => {
    struck = true
    if (crash !== null) await failParty(cluster, members[crash], failure, random, () => cluster.steps.heal(fault))
  })
  const moving = repeatedly(admin, { moveChunk: 'app.c', find: { k: cut }, to: recipient, $db: 'admin' }, loss ? 6 : 1)
  await Promise.all(
    Array.from({ length: workers }, (_, i) =>
      work(new PatientClient(cluster, random.fork(`client ${i}`)), ledger, random.fork(`work ${i}`), i),
    ),
  )
  const reply = await moving
  if (losing !== null) await cluster.faults.heal(losing.id)
  await cluster.advance(isOfSets ? settleMs : cleanupMs)
  if (struck) await crashed
  // A shard that was down during range deletions restarts their delay.
  if (step.startsWith('shard.range-deleter.') && !isOfSets) await cluster.advance(cleanupMs)
  const violations = [...ledger.violations('document', await contents(admin)), ...(await leftovers(cluster, admin))]
  if (isOfSets) violations.push(...(await differencesInSets(cluster)))
  const owner = await ownerOf(admin)
  violations.push(...wrongEvents(events, owner === recipient))
  if (reply !== null && reply['ok'] === 1 && owner !== recipient)
    violations.push('the move was acknowledged and has not happened')
  await cluster.stop()
  return { violations, struck, moved: owner === recipient }
}

/**
 * Runs a command as a client with limited patience. @returns the last reply; null: there was none
 */
export async function repeatedly(client: PatientClient, command: Document, attempts: number): Promise<Document | null> {
  const reply = await client.once(command)
  return reply?.['ok'] === 1 || attempts === 1 ? reply : repeatedly(client, command, attempts - 1)
}

async function prepare(admin: PatientClient, ledger: Ledger, donor: string): Promise<void> {
  await admin.untilDone({ enableSharding: 'app', primaryShard: donor, $db: 'admin' })
  await admin.untilDone({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  const keys = Array.from({ length: documents }, (_, i) => i)
  await admin.writeRetryably({
    command: { insert: 'c', $db: 'app' },
    documents: keys.map((k) => ({ _id: k, k, n: 0 })),
    field: 'documents',
  })
  for (const key of keys) ledger.inserted(key, true)
  await admin.untilDone({ split: 'app.c', middle: { k: cut }, $db: 'admin' })
  // A failed move leaves adjacent chunks, which must not be merged.
  await admin.untilDone({ balancerStop: 1, $db: 'admin' })
}

/** Each migration that has started ends once, and one of them commits if the range has moved. */
function wrongEvents(events: readonly MigrationEvent[], moved: boolean): string[] {
  const wrong: string[] = []
  const ends = events.filter(({ stage }) => stage === 'committed' || stage === 'aborted')
  for (const { id, stage } of events) {
    const own = ends.filter((end) => end.id === id)
    if (stage === 'started' && own.length !== 1)
      wrong.push(`the migration ${id} has ${own.length} events of its end: ${own.map((end) => end.stage).join()}`)
  }
  const committed = ends.filter(({ stage }) => stage === 'committed').length
  if (committed !== (moved ? 1 : 0)) wrong.push(`${committed} migrations committed, and the range has moved: ${moved}`)
  return wrong
}

/** Increments, inserts, deletes and finds. */
async function work(client: PatientClient, ledger: Ledger, random: Random, number: number): Promise<void> {
  const keys = Array.from({ length: documents / workers }, (_, i) => i * workers + number)
  const worker = new LedgerWorker({ client, ledger, keys, nextKey: 1000 + number * 1000 })
  for (let i = 0; i < operationsOfWorker; i++) {
    const key = worker.keys[random.below(worker.keys.length)]!
    const choice = random.below(8)
    const [first] = worker.keys as [number]
    if (choice < 4) await worker.increment(key)
    else if (choice < 6) await worker.insert()
    else if (choice === 6 && worker.keys.length > 3) await worker.delete(key)
    else if (choice === 6) await worker.find({ k: first }, [first])
    else await worker.find()
    await client.pause(4)
  }
}

/** Documents on shards that do not own them, and records that are left of the migration. */
async function leftovers(cluster: SimulatedCluster, admin: PatientClient): Promise<string[]> {
  const wrong: string[] = []
  const moved = (await ownerOf(admin)) === cluster.shards[1]
  for (const [i, shard] of cluster.shards.entries()) {
    const direct = (collection: string, db: string) => storedOn(cluster, shard, db, collection)
    const owns = (k: number) => (k >= cut && moved ? i === 1 : i === 0)
    for (const { k } of await direct('c', 'app')) if (!owns(k)) wrong.push(`${shard} keeps the orphan ${k}`)
    for (const name of ['rangeDeletions', 'migrationCoordinators'])
      for (const document of await direct(name, 'config'))
        wrong.push(`${shard} has in ${name} ${JSON.stringify(document)}`)
  }
  const { cursor } = await admin.untilDone({ find: 'chunks', filter: {}, $db: 'config' })
  if (cursor.firstBatch.length !== 2) wrong.push(`there are ${cursor.firstBatch.length} chunks`)
  return wrong
}

async function ownerOf(admin: PatientClient): Promise<string> {
  const { cursor } = await admin.untilDone({ find: 'chunks', filter: { min: { k: cut } }, $db: 'config' })
  return cursor.firstBatch[0].shard
}
