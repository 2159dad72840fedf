/**
 * Where members share placements: whoever asks after a commit asks for what is newer, not for what
 * everybody else asks for as well.
 */
import type { PlacementVersionTuple } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { comparePlacement, sameGeneration, SharedPlacements } from '@shardlab/sharding'
import { generationOfCollection } from '../chunks/chunk-operations.js'
import type { PlacementHost, UnpublishedCommit } from '../host.js'

/** A change of chunks as a commit has left it in the catalog. */
export interface CommittedChunks {
  /**
   * The collection's version before it and after it; the same when the commit had been done before.
   */
  readonly before: PlacementVersionTuple
  readonly version: PlacementVersionTuple
  /** What it has written to config.chunks, the oldest version first. */
  readonly documents: readonly Uint8Array[]
}

/**
 * In the turn of the commit: later ones may change the same chunks while this one is written down,
 * and may be lost yet. Each tells what it has changed since the one before it, which reaches the
 * disk no later.
 * @returns publishes the placement as it is now; to be called when the commit is on the disk
 */
export function placementToPublish(
  catalog: PlacementHost,
  ns: string,
  { before, version, documents }: CommittedChunks,
): () => void {
  const placements = new SharedPlacements(catalog.node.context)
  const shared = placements.before(ns, null)?.table.version
  const collection = shared === undefined ? null : catalog.collection(ns)
  if (shared === undefined || collection === null) return nothing
  if (!sameGeneration(shared, version) || !sameGeneration(shared, [...generationOfCollection(ns, collection), 0, 0]))
    return nothing
  const waiting = waitingOf(catalog, ns, version)
  const last = waiting.at(-1)
  const from = last !== undefined && comparePlacement(last.version, shared) > 0 ? last.version : shared
  if (comparePlacement(from, version) < 0) {
    const chunks =
      comparePlacement(from, before) === 0 ? documents : catalog.newerChunkDocuments(collection, from, version)
    waiting.push({ collection, from, version, chunks })
  }
  return () => {
    while (waiting.length > 0 && comparePlacement(waiting[0]!.version, version) <= 0)
      publish(placements, ns, waiting.shift()!)
    // Another creation of the collection must not put its commits where those of this one are
    // awaited.
    if (waiting.length === 0 && catalog.unpublished.get(ns) === waiting) catalog.unpublished.delete(ns)
  }
}

/** The commits of this creation of the collection that wait. */
function waitingOf({ unpublished }: PlacementHost, ns: string, version: PlacementVersionTuple): UnpublishedCommit[] {
  const known = unpublished.get(ns)
  if (known !== undefined && (known.length === 0 || sameGeneration(known[0]!.version, version))) return known
  const waiting: UnpublishedCommit[] = []
  unpublished.set(ns, waiting)
  return waiting
}

/** Who has asked meanwhile may have learned of it before, or of less than it builds on. */
function publish(
  placements: SharedPlacements,
  ns: string,
  { collection, from, version, chunks }: UnpublishedCommit,
): void {
  const known = placements.before(ns, null)
  const shared = known?.table.version
  if (shared === undefined || !sameGeneration(shared, version)) return
  if (comparePlacement(shared, from) < 0 || comparePlacement(shared, version) >= 0) return
  try {
    placements.after(ns, known, { collection, chunks, full: false })
  } catch (error) {
    // Clients have spoilt config.chunks: whoever asks hears of it.
    if (!(error instanceof CommandError)) throw error
  }
}

const nothing = (): void => {}
