import { CommandError } from '@shardlab/bson'
import type { Access, Entrant } from '@shardlab/node'
import type { DatabaseCopies } from '../coordinators/locks/database-copies.js'
import { isRead } from './is-read.js'
import type { PlacementState } from './placement-state.js'
import type { VersionCheck } from './version-check.js'

export interface EntranceHost {
  readonly databaseCopies: Pick<DatabaseCopies, 'blocking'>
  readonly versions: Pick<VersionCheck, 'enter' | 'accessUnder' | 'stale'>
  readonly placements: Pick<PlacementState, 'placementAt'>
}

/**
 * Admits a command when its database is not being copied and its versions are current. An admitted
 * command applies its writes in the same turn of the event loop.
 * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion, 319 MovePrimaryInProgress, 250
 *   StaleChunkHistory for a read of the past
 */
export function enterCollection(host: EntranceHost, ns: string, entrant: Entrant): Promise<Access> | Access {
  const access = enterPresent(host, ns, entrant)
  const transaction = entrant.transaction?.open ?? null
  if (transaction !== null && access instanceof Promise) {
    transaction.isEntering = true
    const entered = access.finally(() => {
      transaction.isEntering = false
    })
    return withPast(host, ns, entrant, entered)
  }
  return withPast(host, ns, entrant, access)
}

function withPast(
  host: EntranceHost,
  ns: string,
  entrant: Entrant,
  access: Promise<Access> | Access,
): Promise<Access> | Access {
  return entrant.routed === null || entrant.concerns.read.atClusterTime === null
    ? access
    : enterPast(host, ns, entrant, access)
}

function enterPresent(host: EntranceHost, ns: string, entrant: Entrant): Promise<Access> | Access {
  const waiting = host.databaseCopies.blocking(ns, entrant)
  if (waiting !== undefined) return waiting.then(() => enterAfterWaiting(host, ns, entrant))
  const access = checkVersions(host, ns, entrant)
  return access instanceof Promise ? enterAfterWaiting(host, ns, entrant, access) : access
}

/**
 * A read of the past sees the documents that this shard owned at that time.
 * @throws CommandError 250 StaleChunkHistory; 13388 StaleConfig; 272 MigrationConflict
 */
async function enterPast(
  { placements, versions }: EntranceHost,
  ns: string,
  entrant: Entrant,
  entering: Promise<Access> | Access,
): Promise<Access> {
  const access = await entering
  const placement = access.ownership?.placement
  if (placement === undefined) return access
  const past = await placements.placementAt(placement, entrant.concerns.read.atClusterTime!)
  if (past === undefined) throw versions.stale(ns, `collection ${ns} was dropped or recreated during the operation`)
  if (past === placement) return access
  // A transaction writes only where the documents of its snapshot still are.
  if (!isRead(entrant))
    throw new CommandError(
      'MigrationConflict',
      `Chunks of collection ${ns} have moved since the snapshot of the transaction. Transaction will be aborted.`,
    )
  return versions.accessUnder(past)
}

/** A copy of the database may have started during the wait. */
async function enterAfterWaiting(
  host: EntranceHost,
  ns: string,
  entrant: Entrant,
  begun?: Promise<Access>,
): Promise<Access> {
  const { databaseCopies } = host
  for (let checking = begun; ; checking = undefined) {
    const access = await (checking ?? checkVersions(host, ns, entrant))
    const blocking = databaseCopies.blocking(ns, entrant)
    if (blocking === undefined) return access
    await blocking
  }
}

function checkVersions({ versions }: EntranceHost, ns: string, entrant: Entrant): Promise<Access> | Access {
  return versions.enter(ns, entrant.routed, entrant)
}
