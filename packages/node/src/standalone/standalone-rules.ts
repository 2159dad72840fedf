/** What a mongod without a replica set refuses. */
import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { Concerns } from '@shardlab/member'

/** @throws CommandError 76 NoReplicationEnabled: the command is about a replica set */
export function checkCommand({ name }: CommandRow<never>): void {
  if (!name.startsWith('replSet')) return
  throw new CommandError(
    'NoReplicationEnabled',
    name === 'replSetInitiate' ? 'This node was not started with replication enabled.' : 'not running with --replSet',
  )
}

/**
 * Server: initialize_operation_session_info.cpp.
 * @throws CommandError 20 IllegalOperation
 */
export function checkTransactionNumber(args: CommandArguments): void {
  if (args.value('lsid') !== undefined && args.value('txnNumber') !== undefined)
    throw new CommandError('IllegalOperation', 'Transaction numbers are only allowed on a replica set member or mongos')
}

/**
 * Server: write_concern.cpp (validateWriteConcern), read_concern_mongod.cpp (waitForReadConcern).
 * @throws CommandError 2 BadValue, 20 IllegalOperation, 123 NotAReplicaSet
 */
export function checkConcernsOnStandalone({ read, write }: Concerns): void {
  const { level, afterClusterTime, atClusterTime } = read
  if (level === 'linearizable')
    throw new CommandError('NotAReplicaSet', 'node needs to be a replica set member to use read concern')
  if (afterClusterTime !== null || atClusterTime !== null)
    throw new CommandError(
      'IllegalOperation',
      `Cannot specify ${afterClusterTime === null ? 'at' : 'after'}ClusterTime readConcern without replication enabled`,
    )
  if (level === 'snapshot')
    throw new CommandError('NotAReplicaSet', 'node needs to be a replica set member to use readConcern: snapshot')
  const w = write?.w ?? null
  if (typeof w === 'number' && w > 1)
    throw new CommandError('BadValue', "cannot use 'w' > 1 when a host is not replicated")
  if (typeof w === 'string' && w !== 'majority')
    throw new CommandError(
      'BadValue',
      `cannot use non-majority 'w' mode "${w}" when a host is not a member of a replica set`,
    )
}
