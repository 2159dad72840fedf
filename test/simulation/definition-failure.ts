/**
 * A command that defines a collection, a database or chunks, and a primary is replaced while a
 * member is held at a step. The client repeats the command until it is done.
 */
import { createRandom } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { twoShardsFor, differencesInSets, failParty, storedOn, type PartyFailure } from './party-failure.js'
import { PatientClient } from './patient-client.js'

/** The database's primary shard coordinates; the other shard owns chunks. */
export type DefinitionParty = 'coordinator' | 'other' | 'config'

interface Definition {
  readonly steps: readonly string[]
  readonly command: Document
  /** Codes of a repetition after the command has been done. */
  readonly done?: readonly number[]
  /** What a client sees afterwards. */
  readonly expected: Expectation
}

interface Expectation {
  /** Names of collections in `app`, and how many documents each has. */
  readonly counts: Readonly<Record<string, number>>
  readonly keys: Readonly<Record<string, Document>>
}

const documents = 20
const counts = { sharded: documents, plain: documents }
const key = { k: 1 }
const keys = { sharded: key }
const codes = { namespaceNotFound: 26, alreadyInitialized: 23, badValue: 2, shardKeyNotFound: 61 }

/** `app.sharded` has chunks up to 10 and from 10, on different shards; `app.plain` is unsharded. */
export const definitions: Readonly<Record<string, Definition>> = {
  shardCollection: {
    steps: [
      'shard.create-collection.validated',
      'shard.create-collection.participants-ready',
      'shard.create-collection.committed',
    ],
    command: { shardCollection: 'app.plain', key, $db: 'admin' },
    expected: { counts, keys: { ...keys, plain: key } },
  },
  drop: {
    steps: ['shard.drop-collection.started', 'shard.drop-collection.committed'],
    command: { drop: 'sharded', $db: 'app' },
    done: [codes.namespaceNotFound],
    expected: { counts: { plain: documents }, keys: {} },
  },
  dropDatabase: {
    steps: ['shard.drop-database.collections-committed', 'shard.drop-database.committed'],
    command: { dropDatabase: 1, $db: 'app' },
    expected: { counts: {}, keys: {} },
  },
  renameCollection: {
    steps: ['shard.rename-collection.committed'],
    command: { renameCollection: 'app.sharded', to: 'app.renamed', $db: 'admin' },
    done: [codes.namespaceNotFound],
    expected: { counts: { renamed: documents, plain: documents }, keys: { renamed: key } },
  },
  refineCollectionShardKey: {
    steps: ['shard.refine-shard-key.validated', 'shard.refine-shard-key.committed'],
    command: { refineCollectionShardKey: 'app.sharded', key: { k: 1, r: 1 }, $db: 'admin' },
    expected: { counts, keys: { sharded: { k: 1, r: 1 } } },
  },
  collMod: {
    steps: ['shard.coll-mod.migrations-stopped'],
    command: { collMod: 'sharded', validator: { k: { $gte: 0 } }, $db: 'app' },
    expected: { counts, keys },
  },
  movePrimary: {
    steps: [
      'shard.move-primary.started',
      'shard.move-primary.batch-sent',
      'shard.move-primary.cloned',
      'shard.move-primary.critical-section',
      'shard.move-primary.committed',
      'shard.move-primary.cleaned',
    ],
    command: { movePrimary: 'app', to: 'shard02', $db: 'admin' },
    expected: { counts, keys },
  },
  split: {
    steps: ['shard.split-chunk.before-commit'],
    command: { split: 'app.sharded', middle: { k: 5 }, $db: 'admin' },
    done: [codes.badValue, 72, 87],
    expected: { counts, keys },
  },
  mergeChunks: {
    steps: ['shard.merge-chunks.before-commit'],
    command: { mergeChunks: 'app.sharded', bounds: [{ k: 0 }, { k: 10 }], $db: 'admin' },
    done: [codes.badValue, codes.shardKeyNotFound, 20, 96],
    expected: { counts, keys },
  },
  moveCollection: {
    steps: ['shard.track-collection.committed'],
    command: { moveCollection: 'app.plain', toShard: 'shard02', $db: 'admin' },
    expected: { counts, keys: { ...keys, plain: { _id: 1 } } },
  },
}

export interface DefinitionScene {
  readonly seed: number
  readonly name: string
  readonly step: string
  readonly party: DefinitionParty
  readonly failure: PartyFailure
}

export interface DefinitionOutcome {
  readonly violations: readonly string[]
  readonly struck: boolean
}

const settleMs = 30_000

export async function playDefinition({
  seed,
  name,
  step,
  party,
  failure,
}: DefinitionScene): Promise<DefinitionOutcome> {
  const { command, done = [], expected } = definitions[name]!
  const cluster = await twoShardsFor(failure, seed)
  const random = createRandom(seed).fork('definition')
  const client = new PatientClient(cluster, random.fork('client'))
  const [coordinator, other] = cluster.shards as [string, string]
  await prepare(client, coordinator, other)
  const sets: Record<DefinitionParty, string> = { coordinator, other, config: 'config' }
  const fault = await cluster.steps.arm(step, 'hold', { times: 1 })
  let struck = false
  const failed = cluster.steps.struck(fault).then(async () => {
    struck = true
    await failParty(cluster, sets[party], failure, random, () => cluster.steps.heal(fault))
  })
  await client.untilDone(command, done)
  await cluster.advance(settleMs)
  if (struck) await failed
  const violations = await differencesFrom(client, expected)
  for (const shard of cluster.shards)
    for (const record of await storedOn(cluster, shard, 'config', 'system.sharding_ddl_coordinators'))
      violations.push(`${shard} is coordinating ${JSON.stringify(record['_id'])}`)
  violations.push(...(await differencesInSets(cluster)))
  await cluster.stop()
  return { violations, struck }
}

async function prepare(client: PatientClient, coordinator: string, other: string): Promise<void> {
  await client.untilDone({ balancerStop: 1, $db: 'admin' })
  await client.untilDone({ enableSharding: 'app', primaryShard: coordinator, $db: 'admin' })
  await client.untilDone({ shardCollection: 'app.sharded', key, $db: 'admin' })
  await client.untilDone({ createIndexes: 'sharded', indexes: [{ key: { k: 1, r: 1 }, name: 'k_r' }], $db: 'app' })
  for (const k of [0, 10]) await client.untilDone({ split: 'app.sharded', middle: { k }, $db: 'admin' })
  await client.untilDone({ moveChunk: 'app.sharded', find: { k: 10 }, to: other, $db: 'admin' })
  await client.untilDone({ createIndexes: 'plain', indexes: [{ key, name: 'k_1' }], $db: 'app' })
  const all = Array.from({ length: documents }, (_, _id) => ({ _id, k: _id, r: 0 }))
  for (const collection of ['sharded', 'plain'])
    await client.writeRetryably({ command: { insert: collection, $db: 'app' }, documents: all, field: 'documents' })
}

async function differencesFrom(client: PatientClient, expected: Expectation): Promise<string[]> {
  const violations: string[] = []
  const batch = async (command: Document): Promise<Document[]> =>
    (await client.untilDone({ ...command, $db: command['$db'] ?? 'app' }))['cursor'].firstBatch
  const found: Record<string, number> = {}
  for (const { name } of await batch({ listCollections: 1, nameOnly: true })) {
    const ids = (await batch({ find: name, batchSize: 1000 })).map(({ _id }) => _id as number)
    found[name] = ids.length
    if (new Set(ids).size !== ids.length) violations.push(`${name} has documents twice`)
  }
  compare('documents', found, expected.counts, violations)
  const keys: Record<string, Document> = {}
  for (const { _id, key: ofEntry } of await batch({ find: 'collections', filter: { _id: /^app\./ }, $db: 'config' }))
    keys[String(_id).slice('app.'.length)] = ofEntry
  compare('shard keys', keys, expected.keys, violations)
  for (const each of await batch({ checkMetadataConsistency: 1, cursor: {}, $db: 'admin' }))
    violations.push(`inconsistent: ${JSON.stringify(each)}`)
  return violations
}

function compare(what: string, found: object, expected: object, violations: string[]): void {
  const [one, other] = [found, expected].map((value) => JSON.stringify(Object.entries(value).toSorted()))
  if (one !== other) violations.push(`${what}: ${one} instead of ${other}`)
}
