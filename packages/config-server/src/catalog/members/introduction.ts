/** Server: sharding_catalog_manager_shard_operations.cpp, _validateHostAsShard. */
import {
  hostNotFound,
  clusterAddress,
  configAddress,
  isShardAddress,
  type ActorContext,
  type ReplyOf,
} from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { HostSearch } from '@shardlab/member'
import type { NodeHost } from '@shardlab/node'
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
    const found = await context.all(target.hosts.map((host) => memberAt(context, host)))
    if (setName === null) throw withoutSetName(connectionString, found[0]!)
    if (setName === context.address && found.includes(setName))
      throw new CommandError('OperationFailed', `Cannot add ${connectionString} as a shard since it is a config server`)
    if (isShardAddress(setName) && found.includes(setName)) break
    const pauseMs = search.nextPauseMs(context.now())
    if (pauseMs === null) throw hostNotFound(setName)
    await context.sleep(pauseMs, stopping.signal)
  }
  const member = await context.request(setName, 'shard.introduce', {}, { timeoutMs: introductionTimeoutMs })
  checkHosts(target, connectionString, member)
  return member
}

/** Null: no member listens there. */
async function memberAt(context: ActorContext, host: string): Promise<string | null> {
  return (await context.request(clusterAddress, 'cluster.member-at', { host })).member
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
  { hosts }: ConnectionString,
  connectionString: string,
  { setName, host }: ReplyOf<'shard.introduce'>,
): void {
  const stranger = hosts.find((each) => each !== host)
  if (stranger === undefined) return
  throw new CommandError(
    'OperationFailed',
    `in seed list ${connectionString}, host ${stranger} does not belong to replica set ${setName}; found { hosts: [ "${host}" ], setName: "${setName}" }`,
  )
}
