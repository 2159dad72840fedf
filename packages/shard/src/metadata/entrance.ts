/** Where commands of routers wait before they touch a collection. */
import type { Access, NodeInvocation } from '@shardlab/node'
import type { DocumentMoves } from '../document-moves/document-moves.js'
import type { DatabaseMoves } from './database-moves.js'
import { isRead } from './is-read.js'
import type { PlacementState } from './placement-state.js'
import type { VersionCheck } from './version-check.js'

export interface EntranceParts {
  readonly databaseMoves: DatabaseMoves
  readonly documentMoves: DocumentMoves
  readonly versions: VersionCheck
  readonly state: PlacementState
}

/**
 * Lets a command in when nothing is in its way: no copy of the database is being made, documents that have moved into the collection are
 * seen, and the versions that it carries fit. Whoever is let in goes on within the same turn.
 * @throws CommandError 13388 StaleConfig, 249 StaleDbVersion, 319 MovePrimaryInProgress, 250 StaleChunkHistory for a read of the past
 */
export function enterCollection(parts: EntranceParts, ns: string, invocation: NodeInvocation): Promise<Access> | Access {
  const access = enterPresent(parts, ns, invocation)
  return invocation.routed === null || invocation.concerns.read.atClusterTime === null ? access : enterPast(parts, ns, invocation, access)
}

function enterPresent(parts: EntranceParts, ns: string, invocation: NodeInvocation): Promise<Access> | Access {
  const { databaseMoves, documentMoves } = parts
  const moving = () => (invocation.routed === null ? undefined : documentMoves.seen(ns, () => isRead(invocation)))
  const waiting = databaseMoves.blocking(ns, invocation) ?? moving()
  if (waiting !== undefined) return waiting.then(() => enterAfterWaiting(parts, ns, invocation))
  const access = checkVersions(parts, ns, invocation)
  return access instanceof Promise ? enterAfterWaiting(parts, ns, invocation, access) : access
}

/** A read of the past sees what this shard owned then. @throws CommandError 250 StaleChunkHistory; 13388 StaleConfig */
async function enterPast(
  { state, versions }: EntranceParts,
  ns: string,
  { concerns }: NodeInvocation,
  entering: Promise<Access> | Access,
): Promise<Access> {
  const access = await entering
  const placement = access.ownership?.placement
  if (placement === undefined) return access
  const past = await state.placementAt(placement, concerns.read.atClusterTime!)
  if (past === undefined) throw versions.stale(ns, `the collection ${ns} is another one by now`)
  return past === placement ? access : versions.accessUnder(past)
}

/** What was waited for may have let somebody begin to make a copy. */
async function enterAfterWaiting(parts: EntranceParts, ns: string, invocation: NodeInvocation, begun?: Promise<Access>): Promise<Access> {
  const { databaseMoves } = parts
  for (let checking = begun; ; checking = undefined) {
    const access = await (checking ?? checkVersions(parts, ns, invocation))
    const blocking = databaseMoves.blocking(ns, invocation)
    if (blocking === undefined) return access
    await blocking
  }
}

function checkVersions({ versions }: EntranceParts, ns: string, invocation: NodeInvocation): Promise<Access> | Access {
  return versions.enter(ns, invocation.routed, invocation)
}
