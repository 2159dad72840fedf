/**
 * Run by the new primary shard of a database. From before the commit of a movePrimary until the old
 * primary shard has dropped its originals, no coordinator changes or places collections of the
 * database: the drop would include what they place on the old primary shard.
 * Server: shardsvr_move_primary_enter_critical_section_command.cpp; before 7.0 the distributed lock
 * of the database, which movePrimary holds until its end.
 */
import {
  configAddress,
  createDeferred,
  RequestFailedError,
  type Deferred,
  type PrimaryMove,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import { retryUntilDone, type NodeHost } from '@shardlab/node'
import { unlessStopping } from '../../common/unless-stopping.js'
import { dropLocalCopy } from '../collections/local-changes.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { DdlHost } from '../ddl-host.js'
import type { MovePrimaryRecord, ReceiveDatabaseRecord } from '../ddl-records.js'

/** How often the new primary shard checks that the old one is still in the cluster. */
const checkIntervalMs = 10_000

export async function holdDatabase(
  host: DdlHost,
  { db, move }: RequestOf<'shard.hold-database'>,
): Promise<ReplyOf<'shard.hold-database'>> {
  const { node, ddl } = host
  ddl.receivedMoves.admit(db, move)
  const [from] = move
  const record: ReceiveDatabaseRecord = { operation: 'receiveDatabase', ns: db, from }
  const { promise: isHeld } = holdOf(host, db)
  if (ddl.records.has(record)) {
    await node.flushToMajority()
  } else {
    await ddl.records.begin(record)
    const holding = ddl.resume({ operation: 'movePrimary', names: [db], args: null }, () => untilReleased(host, record))
    node.context.detach(holding.catch(ignoreShutdown))
  }
  await unlessStopping(node, isHeld)
  return { error: null }
}

/** A repeated request waits for the lock as the first one does, also after a restart. */
function holdOf({ ddl }: DdlHost, db: string): Deferred<void> {
  let hold = ddl.databaseHolds.get(db)
  if (hold === undefined) ddl.databaseHolds.set(db, (hold = createDeferred()))
  return hold
}

/** Later requests of the move have no effect. */
export async function releaseDatabase(
  host: DdlHost,
  { db, move, dropped }: RequestOf<'shard.release-database'>,
): Promise<ReplyOf<'shard.release-database'>> {
  const { node, ddl } = host
  if (ddl.receivedMoves.isOpen(db, move)) {
    for (const ns of dropped) dropLocalCopy(host, ns)
    const record = ddl.records.get({ operation: 'receiveDatabase', ns: db })
    if (record?.operation === 'receiveDatabase' && record.from === move[0]) ddl.records.remove(record)
    ddl.receivedMoves.end(db, move)
  }
  await node.flushToMajority()
  ddl.released.notify()
  return {}
}

/** Called with the lock. */
async function untilReleased(host: DdlHost, record: ReceiveDatabaseRecord): Promise<void> {
  const { node, ddl } = host
  holdOf(host, record.ns).resolve()
  while (ddl.records.has(record)) {
    await ddl.released.next(checkIntervalMs)
    if (node.stopping.signal.aborted) return
    if (ddl.records.has(record) && !(await isInCluster(node, record.from))) await ddl.records.finish(record)
  }
  ddl.databaseHolds.delete(record.ns)
}

/**
 * Called by the old primary shard. Repeats the request until the other shard has received it.
 * @param dropped copies that the other shard drops
 */
export async function askToRelease(
  node: NodeHost,
  { ns: db, to, startedAt }: MovePrimaryRecord,
  dropped: readonly string[],
): Promise<void> {
  const { context } = node
  const move: PrimaryMove = [context.address, ...startedAt]
  await retryUntilDone(node, async () => {
    if (await isInCluster(node, to)) await context.request(to, 'shard.release-database', { db, move, dropped })
  })
}

/** Of a removed shard nothing is expected any more. */
async function isInCluster(node: NodeHost, shard: string): Promise<boolean> {
  const { shards } = await retryUntilDone(node, () => node.context.request(configAddress, 'config.get-shards', {}))
  return shards.some((each) => findField(each, '_id')!.asString() === shard)
}

function ignoreShutdown(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}

export const receiveDatabaseRecovery: DdlRecovery<ReceiveDatabaseRecord, DdlHost> = {
  hold: (_, __, work) => work(),
  resume: untilReleased,
}
