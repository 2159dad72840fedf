/** Where members share placements: whoever asks after a commit asks for what is newer, not for what everybody else asks for as well. */
import type { PlacementVersionTuple } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { comparePlacement, generationOf, sameGeneration, SharedPlacements } from '@shardlab/sharding'
import type { ShardingCatalog } from './sharding-catalog.js'

/**
 * In the turn of the commit: later ones may change the same chunks while this one is written down, and may be lost yet.
 * @param version that of the collection after the commit
 * @returns publishes the placement as it is now; to be called when the commit is on the disk
 */
export function placementToPublish(catalog: ShardingCatalog, ns: string, version: PlacementVersionTuple): () => void {
  const placements = new SharedPlacements(catalog.node.context)
  const known = placements.before(ns, null)
  const collection = known === null ? null : catalog.collection(ns)
  if (known === null || collection === null) return nothing
  const { version: from } = known.table
  if (!sameGeneration(from, version) || !sameGeneration(from, [...generationOf(collection), 0, 0]) || comparePlacement(from, version) >= 0)
    return nothing
  const chunks = catalog.newerChunkDocuments(collection, from, version)
  return () => {
    try {
      placements.after(ns, known, { collection, chunks, full: false })
    } catch (error) {
      // Clients have spoilt config.chunks: whoever asks hears of it.
      if (!(error instanceof CommandError)) throw error
    }
  }
}

const nothing = (): void => {}
