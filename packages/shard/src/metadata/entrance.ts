/** Where commands of routers wait before they touch a collection. */
import type { Access, Entrant } from '@shardlab/node'
import type { DatabaseMoves } from '../coordinators/locks/database-moves.js'
import type { DocumentMoves } from '../document-moves/document-moves.js'
import { isRead } from './is-read.js'
import type { PlacementState } from './placement-state.js'
import type { VersionCheck } from './version-check.js'

export interface EntranceParts {
  readonly databaseMoves: Pick<DatabaseMoves, 'blocking'>
  readonly documentMoves: Pick<DocumentMoves, 'seen'>
  readonly versions: Pick<VersionCheck, 'enter' | 'accessUnder' | 'stale'>
  readonly placements: Pick<PlacementState, 'placementAt'>
}

/**
 * Lets a command in when nothing is in its way: no copy of the database is being made, documents that have moved into the collection are
 * seen, and the versions that it carries fit. Whoever is let in goes on within the same turn.
 * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion, 319 MovePrimaryInProgress, 250 StaleChunkHistory for a read of the past
 */
export function enterCollection(parts: EntranceParts, ns: string, entrant: Entrant): Promise<Access> | Access {
  const access = enterPresent(parts, ns, entrant)
  return entrant.routed === null || entrant.concerns.read.atClusterTime === null
    ? access
    : enterPast(parts, ns, entrant, access)
}

function enterPresent(parts: EntranceParts, ns: string, entrant: Entrant): Promise<Access> | Access {
  const { databaseMoves, documentMoves } = parts
  const moving = () => (entrant.routed === null ? undefined : documentMoves.seen(ns, () => isRead(entrant)))
  const waiting = databaseMoves.blocking(ns, entrant) ?? moving()
  if (waiting !== undefined) return waiting.then(() => enterAfterWaiting(parts, ns, entrant))
  const access = checkVersions(parts, ns, entrant)
  return access instanceof Promise ? enterAfterWaiting(parts, ns, entrant, access) : access
}

/** A read of the past sees what this shard owned then. @throws CommandError 250 StaleChunkHistory; 13388 StaleConfig */
async function enterPast(
  { placements, versions }: EntranceParts,
  ns: string,
  { concerns }: Entrant,
  entering: Promise<Access> | Access,
): Promise<Access> {
  const access = await entering
  const placement = access.ownership?.placement
  if (placement === undefined) return access
  const past = await placements.placementAt(placement, concerns.read.atClusterTime!)
  if (past === undefined) throw versions.stale(ns, `the collection ${ns} is another one by now`)
  return past === placement ? access : versions.accessUnder(past)
}

/** What was waited for may have let somebody begin to make a copy. */
async function enterAfterWaiting(
  parts: EntranceParts,
  ns: string,
  entrant: Entrant,
  begun?: Promise<Access>,
): Promise<Access> {
  const { databaseMoves } = parts
  for (let checking = begun; ; checking = undefined) {
    const access = await (checking ?? checkVersions(parts, ns, entrant))
    const blocking = databaseMoves.blocking(ns, entrant)
    if (blocking === undefined) return access
    await blocking
  }
}

function checkVersions({ versions }: EntranceParts, ns: string, entrant: Entrant): Promise<Access> | Access {
  return versions.enter(ns, entrant.routed, entrant)
}
