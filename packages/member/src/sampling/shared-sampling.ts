/**
 * The number of sampled collections, shared by the members of one process: a thousand shards need
 * not ask for it every ten seconds.
 */
import type { ActorContext } from '@shardlab/actor'

const name = 'sampled collections'

/** Called by the config server. */
export function noteSampledCollections({ shared }: ActorContext, count: number): void {
  shared?.set(name, count)
}

/** Whether it is known that no collection is sampled. */
export function nothingIsSampled({ shared }: ActorContext): boolean {
  return shared?.get(name) === 0
}
