/**
 * On the server a shard analyses the key; here the router does, which has the placement. Server:
 * analyze_shard_key_cmd.cpp, analyze_shard_key_cmd_util.cpp.
 */
import type { KeyAnalysis } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { routedCommand, soleMember, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import type { Analysis, AnalysisOptions } from './analysis.js'
import { writeKeyCharacteristics } from './key-characteristics.js'
import { writeReadWriteDistribution } from './read-write-distribution.js'

/**
 * @returns the fields of the reply
 * @throws CommandError 26, 166, 20 for collections that cannot be analysed; 2 for an array in the
 *   key; 4952606 for too few distinct values to form ranges; 7826505 to 7826507 for empty samples
 */
export function analyzeKey(
  invocation: MongosInvocation,
  ns: string,
  shardKey: ShardKeyPattern,
  options: AnalysisOptions,
): Promise<DocumentWriter> {
  return withRoute(invocation, ns, false, async (route) => {
    if (route.kind === 'missing' || route.kind === 'config')
      throw new CommandError('NamespaceNotFound', `database ${invocation.db} not found`)
    const analysis = await analysisOn(invocation, ns, shardKey, options, route)
    const writer = new DocumentWriter(4096)
    const found = options.keyCharacteristics && (await writeKeyCharacteristics(writer, analysis))
    if (options.keyCharacteristics && !found && !options.readWriteDistribution)
      throw new CommandError(
        'IllegalOperation',
        'Cannot analyze the characteristics of a shard key that does not have a supporting index',
      )
    if (options.readWriteDistribution) await writeReadWriteDistribution(writer, analysis)
    return writer
  })
}

async function analysisOn(
  invocation: MongosInvocation,
  ns: string,
  shardKey: ShardKeyPattern,
  options: AnalysisOptions,
  route: Extract<Route, { kind: 'sharded' | 'unsharded' }>,
): Promise<Analysis> {
  const { host, operation, db } = invocation
  const shards = route.kind === 'sharded' ? route.placement.table.owners() : [soleMember(route)]
  const about = (shard: string): KeyAnalysis => {
    const { shardVersion, databaseVersion } = routedCommand(invocation, route, shard, invocation.body)
    return { ns, key: shardKey.document, shardVersion, databaseVersion }
  }
  // The primary shard has had its documents longest, so their order says most about monotonicity.
  const database = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, operation))
  const primary = database?.primaryShard ?? ''
  const first = shards.includes(primary) ? primary : shards[host.context.random.below(shards.length)]!
  const { error, ...parameters } = await host.remote.request(first, 'shard.check-analysis', about(first), operation)
  raise(error)
  return { invocation, ns, shardKey, options, isSharded: route.kind === 'sharded', shards, first, parameters, about }
}
