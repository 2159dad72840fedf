/**
 * reshardCollection, moveCollection and unshardCollection on the primary shard: it requests them
 * from the config server, and locks the collection's definition until they end, across restarts.
 * Server: reshard_collection_coordinator.cpp.
 */
import { configAddress, RequestFailedError, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, compareDocuments, ErrorCodes, isRetriableErrorCode } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { raiseError, retryUntilDone } from '@shardlab/node'
import type { CoordinatorHost } from '../../coordinators/ddl-host.js'
import type { DatabaseMoves } from '../../coordinators/locks/database-moves.js'
import type { DefinitionLocks } from '../../coordinators/locks/definition-locks.js'
import { raiseStaleDatabase } from '../../coordinators/primary-shard-check.js'
import type { RangeStore } from '../../ranges/collection-ranges.js'
import { CommandRecords, type CommandRecord } from '../records.js'
import { checkedRequest } from './checked-request.js'

export interface ReshardCommandHost extends CoordinatorHost {
  readonly ranges: RangeStore
  readonly definitionLocks: DefinitionLocks
  readonly databaseMoves: DatabaseMoves
}

/** Then the config server is asked again. */
const answerTimeoutMs = 20_000

export async function reshardCollection(
  host: ReshardCommandHost,
  { ns, request, collectionUuid, databaseVersion }: RequestOf<'shard.reshard-collection'>,
): Promise<ReplyOf<'shard.reshard-collection'>> {
  const { node, placements, definitionLocks } = host
  await raiseStaleDatabase(placements, node.context.address, ns, databaseVersion)
  host.ranges.checkCopied(ns)
  const running = definitionLocks.holder(ns)
  if (running !== null) {
    if (compareDocuments(running.request, request) !== 0)
      throw new CommandError(
        'ConflictingOperationInProgress',
        'Another reshard collection with different arguments is already running for the same namespace',
      )
    await running.done
    return { error: null }
  }
  await definitionLocks.hold(ns, request, async () => {
    const checked = await retryUntilDone(node, () => checkedRequest(host, ns, request, collectionUuid), isTransient)
    if (checked === null) return
    const record: CommandRecord = { id: uuidV4(node.context.random), ns, request: checked }
    const records = new CommandRecords(node)
    records.put(record)
    await node.flush()
    try {
      await node.context.reach('shard.resharding.requested', { ns })
      await carryOut(host, record)
    } finally {
      // After a shutdown the next start resumes it.
      if (!node.stopping.signal.aborted) {
        records.remove(record)
        await node.flush()
      }
    }
  })
  return { error: null }
}

/** After a restart: resumes with the definitions locked. */
export function recoverReshardCommands(host: ReshardCommandHost): void {
  const { node, definitionLocks, databaseMoves } = host
  const records = new CommandRecords(node)
  for (const record of records.all()) {
    const work = async () => {
      try {
        await carryOut(host, record)
      } finally {
        if (!node.stopping.signal.aborted) {
          records.remove(record)
          await node.flush()
        }
      }
    }
    // In the order of a client's request: a joining client is a coordinator of the database, and
    // moves of the database wait for it.
    const hold = () => definitionLocks.hold(record.ns, record.request, work)
    const recovery = databaseMoves.recover(
      databaseNameOf(record.ns),
      { operation: 'reshardCollection', mode: 'IX' },
      hold,
    )
    const noted = recovery.catch((error: unknown) => {
      if (error instanceof RequestFailedError) return
      if (!(error instanceof CommandError)) throw error
      // A client that has joined gets the error, too.
      node.context.log('info', 'a resharding that was requested before a restart has failed', {
        ns: record.ns,
        reason: error.message,
      })
    })
    node.context.detach(noted)
  }
}

/**
 * Resolves when the resharding has ended; retries while the config server cannot be reached.
 * @throws CommandError why it failed; RequestFailedError only when the member shuts down
 */
async function carryOut({ node }: ReshardCommandHost, { id, ns, request: wanted }: CommandRecord): Promise<void> {
  const options = { timeoutMs: answerTimeoutMs }
  // The start is idempotent.
  const start = { reshardingId: id, ns, request: wanted }
  const requestStart = async () => {
    const reply = await node.context.request(configAddress, 'config.start-resharding', start, options)
    raiseError(reply.error)
    return reply
  }
  const begun = await retryUntilDone(node, requestStart, isTransient)
  if (begun.state === 'done') return
  const question = { reshardingId: begun.runningId, ns }
  for (;;) {
    const { ended, error } = await retryUntilDone(node, () =>
      node.context.request(configAddress, 'config.await-resharding', question, options),
    )
    if (!ended) continue
    raiseError(error)
    return
  }
}

/**
 * A refused start may have taken place.
 * Server: _isRetriableErrorForDDLCoordinator.
 */
function isTransient({ code }: CommandError): boolean {
  return isRetriableErrorCode(code) || code === ErrorCodes.OutOfDiskSpace
}
