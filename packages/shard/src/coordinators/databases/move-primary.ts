/**
 * Run by the old primary shard. It copies the database's unsharded collections and views while
 * nothing changes them, blocks reads as well until the config server has committed, and drops its
 * own copies; until then the new primary shard holds the database's lock. After an interruption a
 * copy does not resume, and what it has copied is dropped; a commit is repeated.
 *
 * Another member may become primary while this one still copies. So a majority has each phase
 * before it begins, and the new primary shard ignores late requests (received-moves.ts).
 * Manual: reference/command/movePrimary.
 * Server: move_primary_coordinator.cpp; before 7.0 move_primary_source_manager.cpp, which writes
 * with a majority before it blocks the database, startMetadataOp.
 */
import {
  configAddress,
  RequestFailedError,
  type ErrorField,
  type PrimaryMove,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { dropLocalCollection, raiseError, retryUntilDone } from '@shardlab/node'
import { logChange } from '../../common/changelog.js'
import type { DdlRecovery } from '../ddl-coordinators.js'
import type { DdlHost } from '../ddl-host.js'
import type { MovePrimaryPhase, MovePrimaryRecord } from '../ddl-records.js'
import { copyCollection, createEmptyCopy } from './copy-collection.js'
import { askToRelease } from './receive-database.js'

export async function movePrimary(
  host: DdlHost,
  request: RequestOf<'shard.move-primary'>,
): Promise<ReplyOf<'shard.move-primary'>> {
  const { db, to, databaseVersion } = request
  const operation = { operation: 'movePrimary', names: [db], databaseVersion }
  const coordination = host.node.behaviours.movePrimaryJoins
    ? { ...operation, args: to, conflict: conflictText }
    : { ...operation, args: null }
  await host.ddl.coordinate(host, coordination, () => move(host, request))
  return { error: null }
}

/** The typing error is the server's. */
const conflictText = 'Another movePrimary operation with different arguments is already running ont the same database'

async function move(host: DdlHost, { db, to, databaseVersion }: RequestOf<'shard.move-primary'>): Promise<void> {
  const { node, databaseCopies, ddl } = host
  const { context } = node
  if (to === context.address) return
  const { checkedAt, error: refusal } = await context.request(configAddress, 'config.check-new-primary', { db, to })
  raiseError(refusal)
  if (node.behaviours.movePrimaryIsOneForEachShard) databaseCopies.checkOnlyCopy(db)
  const begun: MovePrimaryRecord[] = []
  let sharded: readonly string[] = []
  try {
    await databaseCopies.copy(db, to, async () => {
      // Commands that entered earlier apply their writes before this sleep ends.
      await context.sleep(0, node.stopping.signal)
      node.transactions.abortUsers(isIn(db))
      await node.transactions.whenUnused(isIn(db), null)
      await node.flushToMajority()
      const found = await collectionsOf(host, db)
      sharded = found.sharded
      await checkRecipient(host, to, db, found.unsharded)
      await log(host, 'start', db, to, sharded)
      await context.reach('shard.move-primary.started', { db, to })
      const record: MovePrimaryRecord = {
        ...{ operation: 'movePrimary', ns: db, to, namespaces: found.unsharded, phase: 'copying' },
        ...{ startedAt: node.set.appliedTs, databaseVersion, plannedAt: checkedAt },
      }
      begun.push(record)
      await ddl.records.begin(record)
      await copyAndCommit(host, record, sharded)
    })
  } catch (error) {
    for (const record of begun) await abort(host, record, error)
    throw error
  }
  await context.reach('shard.move-primary.cleaned', { db, to })
  await log(host, 'end', db, to, sharded)
}

const isIn = (db: string) => (ns: string) => ns.startsWith(`${db}.`)

async function copyAndCommit(host: DdlHost, record: MovePrimaryRecord, sharded: readonly string[]): Promise<void> {
  const { node, critical } = host
  const { context } = node
  const { ns: db, to, namespaces, startedAt } = record
  const move: PrimaryMove = [context.address, ...startedAt]
  for (const ns of sharded) await createEmptyCopy(node, ns, { move, to })
  for (const ns of namespaces) await copyCollection(node, ns, { move, to })
  await context.reach('shard.move-primary.cloned', { db, to })
  raiseError((await context.request(to, 'shard.hold-database', { db, move })).error)
  // Transactions that have begun to read during the copy end first.
  const unused = (enterSection: () => void) => node.transactions.whenUnused(isIn(db), null, enterSection)
  await critical.holdAfter(db, unused, async () => {
    await context.reach('shard.move-primary.critical-section', { db, to })
    raiseError(await commit(host, await enter(host, record, 'committing'), false))
  })
  await release(host, record, [])
}

/** On a primary that was replaced it never resolves, because its context ends. */
async function enter(
  { node, ddl }: DdlHost,
  record: MovePrimaryRecord,
  phase: MovePrimaryPhase,
): Promise<MovePrimaryRecord> {
  const next = { ...record, phase }
  ddl.records.put(next)
  await node.flushToMajority()
  return next
}

/** @param dropped copies that the new primary shard drops */
async function release({ node, ddl }: DdlHost, record: MovePrimaryRecord, dropped: readonly string[]): Promise<void> {
  await askToRelease(node, record, dropped)
  await ddl.records.finish(record)
}

/**
 * Repeats the commit until its outcome is known, and drops the originals. The database is blocked
 * until then.
 * @param record in its phase `committing`
 * @returns why the config server refuses it, and the move is in its phase `aborting`; null: it is
 *   in its phase `releasing`
 */
async function commit(host: DdlHost, record: MovePrimaryRecord, isRepeated: boolean): Promise<ErrorField> {
  const { node, placements } = host
  const { ns: db, to, databaseVersion, plannedAt } = record
  const request = { db, to, databaseVersion, plannedAt }
  const { error } = await retryUntilDone(node, () =>
    node.context.request(configAddress, 'config.commit-move-primary', request),
  )
  if (error !== null) {
    await enter(host, record, 'aborting')
    return error
  }
  placements.forgetDatabase(db)
  // A step that fails would end the recovery, too, which nothing repeats until a restart.
  if (!isRepeated) await node.context.reach('shard.move-primary.committed', { db, to })
  for (const ns of record.namespaces) {
    dropLocalCollection(node, ns, true)
    placements.forgetCollection(ns)
  }
  // After the release, new collections may have the names of the originals.
  await enter(host, { ...record, namespaces: [] }, 'releasing')
  return null
}

async function abort(host: DdlHost, record: MovePrimaryRecord, error: unknown): Promise<void> {
  const { context } = host.node
  context.log('warn', 'movePrimary failed', {
    db: record.ns,
    to: record.to,
    reason: error instanceof Error ? error.message : String(error),
  })
  await end(host, record)
  if (host.node.behaviours.movePrimaryLogsPhases)
    await log(host, 'error', record.ns, record.to, []).catch(ignoreUnreachable)
}

function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}

/** Ends an interrupted move as its phase demands; retries until it has. */
async function end(host: DdlHost, { operation, ns: db }: MovePrimaryRecord): Promise<void> {
  const { critical, ddl } = host
  const record = ddl.records.get({ operation, ns: db })
  if (record?.operation !== 'movePrimary') return
  if (record.phase === 'releasing') return release(host, record, [])
  if (record.phase === 'committing') {
    await critical.hold(db, () => commit(host, record, true))
    return end(host, record)
  }
  const aborting = record.phase === 'copying' ? await enter(host, record, 'aborting') : record
  await release(host, aborting, record.namespaces)
}

/** Until the outcome of a commit is known, a write would be lost: its document is not copied. */
export const movePrimaryRecovery: DdlRecovery<MovePrimaryRecord, DdlHost> = {
  async hold(host, record, work) {
    if (record.phase !== 'committing') return work()
    await host.critical.hold(record.ns, work)
    await end(host, record)
  },
  async resume(host, record) {
    if (record.phase === 'committing') await commit(host, record, true)
    else await end(host, record)
  },
}

async function collectionsOf(
  { node, placements }: DdlHost,
  db: string,
): Promise<{ unsharded: string[]; sharded: string[] }> {
  const unsharded: string[] = []
  const sharded: string[] = []
  for (const { ns } of [...node.engine.collections(db)])
    ((await placements.refreshCollection(ns)) === null ? unsharded : sharded).push(ns)
  return { unsharded: unsharded.sort(), sharded: sharded.sort() }
}

async function checkRecipient(
  { node: { context } }: DdlHost,
  to: string,
  db: string,
  namespaces: readonly string[],
): Promise<void> {
  const { namespaces: there } = await context.request(to, 'shard.list-local-namespaces', { db })
  const orphaned = namespaces.find((ns) => there.includes(ns))
  if (orphaned !== undefined)
    throw new CommandError('NamespaceExists', `Found orphaned collection ${orphaned} on recipient ${to}`)
}

async function log(
  { node: { context, behaviours } }: DdlHost,
  phase: 'start' | 'end' | 'error',
  db: string,
  to: string,
  sharded: readonly string[],
): Promise<void> {
  if (behaviours.movePrimaryLogsPhases) {
    const details = () => new DocumentWriter(96).string('from', context.address).string('to', to).finish()
    if (phase === 'end') await logChange(context, 'movePrimary.commit', db, details())
    await logChange(context, `movePrimary.${phase}`, db, details())
    return
  }
  const details = new DocumentWriter(256)
    .string('database', db)
    .string('from', context.address)
    .string('to', to)
    .startArray('shardedCollections')
  sharded.forEach((ns, i) => details.string(String(i), ns))
  await logChange(context, phase === 'start' ? 'movePrimary.start' : 'movePrimary', db, details.end().finish())
}
