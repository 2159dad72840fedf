/** Makes the proxy collections that are missing, and refuses those that would not keep values unique. */
import type { Db, Document } from 'mongodb'
import { MisconfiguredProxyError } from '../core/errors.js'
import type { UniqueSpec } from '../core/spec.js'

export interface ProxyPlan {
  readonly name: string
  readonly specs: readonly UniqueSpec[]
  readonly sharded: boolean
}

/** Is this a sharded cluster? Manual: reference/command/hello */
export async function isShardedCluster(db: Db): Promise<boolean> {
  return (await db.admin().command({ hello: 1 }))['msg'] === 'isdbgrid'
}

/**
 * The main collection has to compare exactly; its shard key, empty where it has none, makes writes targeted.
 * @throws MisconfiguredProxyError
 */
export async function checkMain(db: Db, name: string, onCluster: boolean): Promise<readonly string[]> {
  const [info] = await db.listCollections({ name }).toArray()
  const options = (info as { options?: Document } | undefined)?.options
  if (options?.['collation'] !== undefined) {
    throw new MisconfiguredProxyError(
      `${db.databaseName}.${name} has the default collation ${options['collation'].locale}: updates are guarded by exact comparison, so it has to have none`,
    )
  }
  const sharding = onCluster ? await shardingOf(db, name) : null
  return sharding === null ? [] : Object.keys(sharding.key)
}

/** @throws MisconfiguredProxyError for a proxy collection that is not as it has to be */
export async function prepareProxy(db: Db, plan: ProxyPlan, onCluster: boolean, make: boolean): Promise<void> {
  const ns = `${db.databaseName}.${plan.name}`
  const [info] = await db.listCollections({ name: plan.name }).toArray()
  if (info !== undefined) {
    const { type, options } = info as { type?: string; options?: Document }
    if (type !== undefined && type !== 'collection')
      throw new MisconfiguredProxyError(`${ns} is a ${type}, not a collection`)
    if (options?.['capped'] === true) throw new MisconfiguredProxyError(`${ns} is capped: it would forget reservations`)
    if (options?.['collation'] !== undefined) {
      throw new MisconfiguredProxyError(`${ns} has a default collation: its _id and values have to compare exactly`)
    }
  }
  const sharding = onCluster ? await shardingOf(db, plan.name) : null
  checkSharding(ns, plan, sharding)
  const indexes = info === undefined ? [] : await db.collection(plan.name).indexes()
  for (const index of indexes) {
    if (index['expireAfterSeconds'] !== undefined) {
      throw new MisconfiguredProxyError(
        `${ns} has the TTL index ${index['name']}: it would remove reservations whose documents are there`,
      )
    }
  }
  for (const spec of plan.specs) checkIndexes(ns, plan, spec, indexes)
  if (!make) {
    if (info === undefined) throw new MisconfiguredProxyError(`there is no proxy collection ${ns}: init makes it`)
    const missing = plan.specs.find((spec) => indexOf(spec, indexes) === undefined)
    if (missing !== undefined)
      throw new MisconfiguredProxyError(`${ns} has no unique index on ${missing.name}: init makes it`)
    if (plan.sharded && onCluster && sharding === null)
      throw new MisconfiguredProxyError(`${ns} is not sharded: init shards it`)
    return
  }
  if (plan.sharded && onCluster && sharding === null) {
    const admin = db.client.db('admin')
    // Before 6.0 a database has to be told; later it does no harm.
    await admin.command({ enableSharding: db.databaseName })
    await admin.command({ shardCollection: ns, key: keyOf(plan.specs[0]!), unique: true })
  }
  for (const spec of plan.specs) {
    if (indexOf(spec, indexes) !== undefined) continue
    const collation = spec.collation === null ? {} : { collation: spec.collation }
    await db
      .collection(plan.name)
      .createIndex(keyOf(spec), { unique: true, ...(plan.sharded ? {} : { sparse: true }), ...collation })
  }
  // For sweeps: only reservations have the field.
  await db.collection(plan.name).createIndex({ expiresAt: 1 }, { sparse: true })
}

interface Sharding {
  readonly key: Document
  readonly unique: boolean
}

/** The entry of config.collections; null: not sharded. Manual: reference/config-database */
async function shardingOf(db: Db, name: string): Promise<Sharding | null> {
  const entry = await db.client
    .db('config')
    .collection<{ _id: string; key?: Document; unique?: boolean; dropped?: boolean; unsplittable?: boolean }>(
      'collections',
    )
    .findOne({ _id: `${db.databaseName}.${name}` })
  if (entry === null || entry.dropped === true || entry.unsplittable === true || entry.key === undefined) return null
  return { key: entry.key, unique: entry.unique === true }
}

function checkSharding(ns: string, plan: ProxyPlan, sharding: Sharding | null): void {
  if (sharding === null) return
  const key = JSON.stringify(sharding.key)
  if (!plan.sharded) {
    throw new MisconfiguredProxyError(
      `${ns} is sharded by ${key}: with several unique indexes it cannot be. Use proxies: 'sharded', with one collection for each`,
    )
  }
  const wanted = keyOf(plan.specs[0]!)
  if (!sameKey(sharding.key, wanted)) {
    throw new MisconfiguredProxyError(
      `${ns} is sharded by ${key}, not by ${JSON.stringify(wanted)}: its unique index would not be one over all shards`,
    )
  }
  if (!sharding.unique)
    throw new MisconfiguredProxyError(`${ns} is sharded by ${key} without unique: true: it keeps nothing unique`)
}

function checkIndexes(ns: string, plan: ProxyPlan, spec: UniqueSpec, indexes: readonly Document[]): void {
  const index = indexOf(spec, indexes)
  if (index === undefined) return
  const name = `the index ${index['name']} of ${ns}`
  if (index['unique'] !== true)
    throw new MisconfiguredProxyError(
      `${name} is not unique: it keeps nothing unique. Drop it, init() makes the right one`,
    )
  if (index['partialFilterExpression'] !== undefined)
    throw new MisconfiguredProxyError(`${name} is partial: it leaves values out`)
  if (plan.specs.length > 1 && index['sparse'] !== true) {
    throw new MisconfiguredProxyError(
      `${name} is not sparse: documents that hold other fields' values only would be duplicates of each other`,
    )
  }
  const collation = index['collation']?.locale ?? 'simple'
  const wanted = spec.collation?.locale ?? 'simple'
  if (collation !== wanted) throw new MisconfiguredProxyError(`${name} has the collation ${collation}, not ${wanted}`)
}

const keyOf = ({ fields }: UniqueSpec): Record<string, 1> => Object.fromEntries(fields.map((field) => [field, 1]))

const indexOf = (spec: UniqueSpec, indexes: readonly Document[]): Document | undefined =>
  indexes.find((index) => sameKey(index['key'], keyOf(spec)))

function sameKey(a: Document, b: Document): boolean {
  const left = Object.entries(a)
  const right = Object.entries(b)
  return (
    left.length === right.length &&
    left.every(([field, direction], i) => field === right[i]![0] && Number(direction) === right[i]![1])
  )
}
