/** Server: sharding_catalog_manager_shard_operations.cpp, _validateHostAsShard. */
import {
  hostNotFound,
  clusterAddress,
  configAddress,
  isShardAddress,
  RequestFailedError,
  type ActorContext,
  type ReplyOf,
} from '@shardlab/actor'
import { CommandError, compareDocuments, findField } from '@shardlab/bson'
import { concernDefaultsId, HostSearch } from '@shardlab/member'
import type { NodeHost } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { CatalogHost } from '../host.js'
import type { ConnectionString } from './connection-string.js'

const introductionTimeoutMs = 30_000

/**
 * Asks the member that is to become a shard for its name, host and databases.
 * @throws CommandError 96 OperationFailed for hosts that cannot be a shard, 133
 * FailedToSatisfyReadPreference when no host belongs to the set until the search ends
 */
export async function introduce(
  node: NodeHost,
  target: ConnectionString,
  connectionString: string,
): Promise<ReplyOf<'shard.introduce'>> {
  const { setName } = target
  const { context, stopping } = node
  const search = new HostSearch(context.now(), node.options.findReplicaSetHostTimeoutMs ?? 0)
  for (;;) {
    const found = await context.all(target.hosts.map((host) => setAt(context, host)))
    if (setName === null) throw withoutSetName(connectionString, found[0]!)
    if (setName === context.address && found.includes(setName))
      throw new CommandError('OperationFailed', `Cannot add ${connectionString} as a shard since it is a config server`)
    if (isShardAddress(setName) && found.includes(setName)) break
    const pauseMs = search.nextPauseMs(context.now())
    if (pauseMs === null) throw hostNotFound(setName)
    await context.sleep(pauseMs, stopping.signal)
  }
  const member = await askPrimary(context, setName)
  checkHosts(target, connectionString, member)
  return member
}

/** @throws CommandError 133 FailedToSatisfyReadPreference: the set has no primary */
async function askPrimary(context: ActorContext, setName: string): Promise<ReplyOf<'shard.introduce'>> {
  try {
    return await context.request(setName, 'shard.introduce', {}, { timeoutMs: introductionTimeoutMs })
  } catch (error) {
    if (error instanceof RequestFailedError && error.undelivered) throw hostNotFound(setName)
    throw error
  }
}

/** Null: no member listens there. */
async function setAt(context: ActorContext, host: string): Promise<string | null> {
  return (await context.request(clusterAddress, 'cluster.member-at', { host })).set
}

function withoutSetName(connectionString: string, member: string | null): CommandError {
  return new CommandError(
    'OperationFailed',
    member !== null && (isShardAddress(member) || member === configAddress)
      ? `host is part of set ${member}; use replica set url format <setname>/<server1>,<server2>, ...`
      : `failed to run command { isMaster: 1 } when attempting to add shard ${connectionString} :: caused by :: HostUnreachable: Error connecting to ${connectionString} :: caused by :: Connection refused`,
  )
}

/**
 * @throws CommandError 96 OperationFailed when a host of the connection string is not a member of
 * the set
 */
function checkHosts(
  target: ConnectionString,
  connectionString: string,
  { setName, hosts, passives, arbiters }: ReplyOf<'shard.introduce'>,
): void {
  const lists = { hosts, passives, arbiters }
  const stranger = target.hosts.find((each) => !Object.values(lists).some((list) => list.includes(each)))
  if (stranger === undefined) return
  const shown = Object.entries(lists)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}: [ ${list.map((host) => `"${host}"`).join(', ')} ]`)
  throw new CommandError(
    'OperationFailed',
    `in seed list ${connectionString}, host ${stranger} does not belong to replica set ${setName}; found { ${shown.join(', ')}, setName: "${setName}" }`,
  )
}

/**
 * Routers send no default write concern until one is set, so shards must agree on theirs. A default
 * that the set had before must be that of the cluster.
 * @throws CommandError 96 OperationFailed
 */
export function checkDefaultWriteConcern(
  { behaviours, store }: Pick<CatalogHost, 'behaviours' | 'store'>,
  connectionString: string,
  { isImplicitMajority, defaultWriteConcern: onShard }: ReplyOf<'shard.introduce'>,
): void {
  if (!behaviours.implicitMajorityWriteConcern) return
  const defaults = store.get('config.settings', concernDefaultsId)
  const onCluster = defaults === null ? undefined : findField(defaults, 'defaultWriteConcern')?.slice()
  const refusal = (why: string): CommandError =>
    new CommandError('OperationFailed', `Cannot add ${connectionString} as a shard since the ${why}`)
  if (!isImplicitMajority && onCluster === undefined)
    throw refusal(
      "implicit default write concern on this shard is set to {w : 1}, because number of arbiters in the shard's configuration caused the number of writable voting members not to be strictly more than the voting majority. Change the shard configuration or set the cluster-wide write concern using the setDefaultRWConcern command and try again.",
    )
  if (onShard === null) return
  if (onCluster === undefined)
    throw refusal(
      `cluster-wide write concern is set on the shard and not set on the cluster. Set the CWWC on the cluster to the same CWWC as the shard and try again. The CWWC on the shard is (${formatDocument(onShard)}).`,
    )
  if (compareDocuments(onShard, onCluster) !== 0)
    throw refusal(
      `cluster-wide write concern set on the shard doesn't match the one set on the cluster. Make sure they match and try again. The CWWC on the shard is (${formatDocument(onShard)}), and the CWWC on the cluster is (${formatDocument(onCluster)}).`,
    )
}
