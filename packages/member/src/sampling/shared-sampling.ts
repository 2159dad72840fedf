/** Whether any collection is sampled, where members of a process keep that together: a thousand shards need not ask for it every ten seconds. */
import type { ActorContext } from '@shardlab/actor'

const name = 'sampled collections'

/** The config server knows how many there are. */
export function noteSampledCollections({ shared }: ActorContext, count: number): void {
  shared?.set(name, count)
}

/** Is it known that there are none? */
export function nothingIsSampled({ shared }: ActorContext): boolean {
  return shared?.get(name) === 0
}
