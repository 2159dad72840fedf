import { checkCollectionName, configAddress, type CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, findField, typeName } from '@shardlab/bson'
import { compileFilter, formatDocument } from '@shardlab/query'
import {
  parseChunk,
  targetFilter,
  type Chunk,
  type CollectionPlacement,
  type ShardKeyPattern,
} from '@shardlab/sharding'
import { databaseNameOf } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { withRoute } from '../routing/stale-loop.js'

/**
 * Server: parseNsFullyQualified.
 * @throws CommandError 2 BadValue, 73 InvalidNamespace
 */
export function qualifiedNamespace({ target }: CommandArguments): string {
  if (target.type !== BsonType.string)
    throw new CommandError('BadValue', `collection name has invalid type ${typeName(target.type)}`)
  const ns = target.asString()
  const dot = ns.indexOf('.')
  if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
  checkCollectionName(ns.slice(0, dot), ns.slice(dot + 1))
  return ns
}

/**
 * Fetches the placement first and after each stale-routing failure.
 * @throws CommandError 26 NamespaceNotFound without the database, 118 NamespaceNotSharded; those of
 *   the attempt
 */
export function withShardedCollection<T>(
  invocation: MongosInvocation,
  ns: string,
  attempt: (placement: CollectionPlacement) => Promise<T>,
): Promise<T> {
  const { host } = invocation
  const db = databaseNameOf(ns)
  host.catalog.markCollectionStale(ns, host.catalog.peekCollection(ns))
  return withRoute({ ...invocation, db }, ns, false, async (route) => {
    if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `database ${db} not found`)
    if (route.kind === 'sharded') return attempt(route.placement)
    throw new CommandError(
      'NamespaceNotSharded',
      host.behaviours.unshardedRefusalsExpectSharding
        ? `Expected collection ${ns} to be sharded`
        : `Collection ${ns} is not sharded.`,
    )
  })
}

/**
 * Null: the query leaves a field of the key open.
 * @throws CommandError for an invalid query
 */
export function keyOfQuery(
  { host }: MongosInvocation,
  placement: CollectionPlacement,
  query: Uint8Array,
): Uint8Array | null {
  const { exactKey, bounds } = targetFilter(placement, compileFilter(query, host.evaluation()))
  return exactKey === null ? null : bounds[0]![0]
}

/**
 * In the pattern's order; null: the key lacks a field of the pattern or has another one. Server:
 * isShardKey, normalizeShardKey.
 */
export function normalisedKey(shardKey: ShardKeyPattern, key: Uint8Array): Uint8Array | null {
  if (shardKey.keyStringOfBound(key) === undefined) return null
  return shardKey.boundDocument(shardKey.fields.map(({ path }) => findField(key, path)!))
}

/**
 * Reads the config server.
 * @throws CommandError 61 ShardKeyNotFound for the end of the key space; 13388 StaleConfig when the
 *   shard key was refined since the placement was read, so that chunks have other bounds
 */
export async function chunkAt(
  { host, operation }: MongosInvocation,
  ns: string,
  { shardKey }: CollectionPlacement,
  key: Uint8Array,
): Promise<Chunk> {
  const { chunk } = await host.remote.request(configAddress, 'config.find-chunk', { ns, key }, operation)
  if (chunk === null)
    throw new CommandError('ShardKeyNotFound', `Cannot target single shard using key ${formatDocument(key)}`)
  const found = parseChunk(chunk)
  if (shardKey.keyStringOfBound(found.min) === undefined)
    throw new CommandError('StaleConfig', `collection ${ns} was dropped or recreated during the operation`)
  return found
}
