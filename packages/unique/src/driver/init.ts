import type { Db, Document } from 'mongodb'
import { MisconfiguredProxyError } from '../core/errors.js'
import type { UniqueSpec } from '../core/specs/spec.js'
import { clientOf } from './handles.js'

export interface ProxyPlan {
  readonly name: string
  readonly specs: readonly UniqueSpec[]
  readonly sharded: boolean
}

/**
 * The main collection must compare exactly.
 * @returns the fields of its shard key, for targeted writes; empty: not sharded
 * @throws MisconfiguredProxyError
 */
export async function checkMain(db: Db, name: string, onCluster: boolean): Promise<readonly string[]> {
  const [info] = await db.listCollections({ name }).toArray()
  const options = (info as { options?: Document } | undefined)?.options
  if (options?.['collation'] !== undefined) {
    throw new MisconfiguredProxyError(
      `${db.databaseName}.${name} has the default collation ${options['collation'].locale}, but updates have to compare old values exactly: use a collection without a default collation`,
    )
  }
  const sharding = onCluster ? await shardingOf(db, name) : null
  return sharding === null ? [] : Object.keys(sharding.key)
}

/**
 * @param make false: only check
 * @throws MisconfiguredProxyError
 */
export async function prepareProxy(db: Db, plan: ProxyPlan, onCluster: boolean, make: boolean): Promise<void> {
  const ns = `${db.databaseName}.${plan.name}`
  const [info] = await db.listCollections({ name: plan.name }).toArray()
  if (info !== undefined) {
    const { type, options } = info as { type?: string; options?: Document }
    if (type !== undefined && type !== 'collection')
      throw new MisconfiguredProxyError(
        `${ns} is a ${type}, not a collection: use another name for the proxy collection`,
      )
    if (options?.['capped'] === true)
      throw new MisconfiguredProxyError(
        `${ns} is capped, so it would drop reservations: use a proxy collection that is not capped`,
      )
    if (options?.['collation'] !== undefined) {
      throw new MisconfiguredProxyError(
        `${ns} has a default collation, but its _id and values have to compare exactly: use a proxy collection without one`,
      )
    }
  }
  const sharding = onCluster ? await shardingOf(db, plan.name) : null
  checkSharding(ns, plan, sharding)
  const indexes = info === undefined ? [] : await db.collection(plan.name).indexes()
  for (const index of indexes) {
    if (index['expireAfterSeconds'] !== undefined) {
      throw new MisconfiguredProxyError(
        `${ns} has the TTL index ${index['name']}, which would remove reservations of existing documents: drop the index`,
      )
    }
  }
  for (const spec of plan.specs) checkIndexes(ns, plan, spec, indexes)
  if (!make) {
    if (info === undefined)
      throw new MisconfiguredProxyError(`the proxy collection ${ns} does not exist: run init to create it`)
    const missing = plan.specs.find((spec) => indexOf(spec, indexes) === undefined)
    if (missing !== undefined)
      throw new MisconfiguredProxyError(`${ns} has no unique index on ${missing.name}: run init to create it`)
    if (plan.sharded && onCluster && sharding === null)
      throw new MisconfiguredProxyError(`${ns} is not sharded: run init to shard it`)
    return
  }
  if (plan.sharded && onCluster && sharding === null) {
    const admin = clientOf(db).db('admin')
    // Required before 6.0, harmless later.
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

/** null: not sharded. Manual: reference/config-database */
async function shardingOf(db: Db, name: string): Promise<Sharding | null> {
  const entry = await clientOf(db)
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
      `${ns} is sharded by ${key}, so it cannot have several unique indexes: use proxies: 'sharded', with one collection for each field`,
    )
  }
  const wanted = keyOf(plan.specs[0]!)
  if (!sameKey(sharding.key, wanted)) {
    throw new MisconfiguredProxyError(
      `${ns} is sharded by ${key} and not by ${JSON.stringify(wanted)}, so it cannot keep values unique over all shards: use another proxy collection`,
    )
  }
  if (!sharding.unique)
    throw new MisconfiguredProxyError(
      `${ns} is sharded by ${key} without unique: true, so it does not keep values unique: use another proxy collection`,
    )
}

function checkIndexes(ns: string, plan: ProxyPlan, spec: UniqueSpec, indexes: readonly Document[]): void {
  const index = indexOf(spec, indexes)
  if (index === undefined) return
  const name = `the index ${index['name']} of ${ns}`
  if (index['unique'] !== true)
    throw new MisconfiguredProxyError(`${name} is not unique: drop it and run init to create a unique one`)
  if (index['partialFilterExpression'] !== undefined)
    throw new MisconfiguredProxyError(
      `${name} is partial, so it does not check all values: drop it and run init to create a complete one`,
    )
  if (plan.specs.length > 1 && index['sparse'] !== true) {
    throw new MisconfiguredProxyError(
      `${name} is not sparse, so documents with values of other fields only would be duplicates of each other: drop it and run init to create a sparse one`,
    )
  }
  const collation = index['collation']?.locale ?? 'simple'
  const wanted = spec.collation?.locale ?? 'simple'
  if (collation !== wanted)
    throw new MisconfiguredProxyError(
      `${name} has the collation ${collation} and not ${wanted}: drop it and run init to create another one`,
    )
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
