/**
 * reshardCollection, moveCollection and unshardCollection on the primary shard: it requests them
 * from the config server, and holds the collection's lock until they end, across restarts.
 * Server: reshard_collection_coordinator.cpp.
 */
import { configAddress, RequestFailedError, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import {
  CommandError,
  DocumentWriter,
  ErrorCodes,
  findField,
  hexOf,
  isRetriableErrorCode,
  sameBytes,
} from '@shardlab/bson'
import { announceSharding, raiseError, retryUntilDone, untilMajorityHasState, type NodeHost } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { Coordination } from '../../coordinators/ddl-coordinators.js'
import type { CoordinatorHost } from '../../coordinators/ddl-host.js'
import type { RangeStore } from '../../ranges/collection-ranges.js'
import { CommandRecords, type CommandRecord } from '../records.js'
import { checkedRequest, provenanceOf } from './checked-request.js'

export interface ReshardCommandHost extends CoordinatorHost {
  readonly ranges: RangeStore
}

/** Then the config server is asked again. */
const answerTimeoutMs = 20_000

const conflict = 'Another reshard collection with different arguments is already running for the same namespace'

export async function reshardCollection(
  host: ReshardCommandHost,
  request: RequestOf<'shard.reshard-collection'>,
): Promise<ReplyOf<'shard.reshard-collection'>> {
  const { ns, databaseVersion } = request
  host.ranges.checkCopied(ns, provenanceOf(request.request))
  await host.ddl.coordinate(host, { ...operationOn(ns, request.request), databaseVersion, conflict }, () =>
    reshard(host, request),
  )
  return { error: null }
}

function operationOn(
  ns: string,
  request: Uint8Array,
): Pick<Coordination, 'operation' | 'names' | 'args'> & { args: string } {
  return { operation: 'reshardCollection', names: [ns], args: hexOf(request) }
}

async function reshard(host: ReshardCommandHost, request: RequestOf<'shard.reshard-collection'>): Promise<void> {
  const { node } = host
  const { ns } = request
  const checked = await retryUntilDone(node, () => checkedRequest(host, request), isTransient)
  if (checked === null) return
  const before = await retryUntilDone(node, () => host.placements.refreshCollection(ns))
  if (before === null) throw new CommandError('NamespaceNotFound', `Collection ${ns} is not in the catalog`)
  const old = { oldUuid: before.uuid, oldShardKey: before.shardKey.document }
  const record: CommandRecord = { id: uuidV4(node.context.random), ns, request: checked, ...old }
  new CommandRecords(node).put(record)
  await node.flushToMajority()
  await carryOutAndForget(host, record, () => node.context.reach('shard.resharding.requested', { ns }))
}

async function carryOutAndForget(
  host: ReshardCommandHost,
  record: CommandRecord,
  begun: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { node } = host
  try {
    await begun()
    await carryOut(host, record)
  } finally {
    // After a shutdown the next start resumes it.
    if (!node.stopping.signal.aborted) {
      const after = await retryUntilDone(node, () => host.placements.refreshCollection(record.ns))
      // In one step with the record: the event is neither lost nor repeated.
      if (after !== null && !sameBytes(record.oldUuid, after.uuid)) announce(node, record, after)
      new CommandRecords(node).remove(record)
      await node.flushToMajority()
    }
  }
}

/** For change streams. Server: notifyChangeStreamsOnReshardCollectionComplete. */
function announce(
  node: NodeHost,
  { ns, request, oldUuid, oldShardKey }: CommandRecord,
  { uuid, shardKey, unique }: CollectionPlacement,
): void {
  const description = new DocumentWriter(256)
    .uuid('reshardUUID', uuid)
    .document('shardKey', shardKey.document)
    .document('oldShardKey', oldShardKey)
    .bool('unique', unique)
  for (const name of ['numInitialChunks', 'collation', 'zones', 'provenance']) {
    const value = findField(request, name)
    if (value !== undefined) description.value(name, value)
  }
  announceSharding(node, { ns, uuid: oldUuid }, 'reshardCollection', description.finish())
}

/** After a restart: resumes with the locks, and clients with an equal request join. */
export function recoverReshardCommands(host: ReshardCommandHost): void {
  const { node, ddl } = host
  for (const record of new CommandRecords(node).all()) {
    const recovery = ddl.resume({ ...operationOn(record.ns, record.request), conflict }, async () => {
      await untilMajorityHasState(node)
      return carryOutAndForget(host, record)
    })
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
