import type { RoutedEvent } from '@shardlab/actor'
import { counted } from '@shardlab/quantities'

const shownBoundsMax = 3
const globalMin = /^\{("[^"]+":\{"\$minKey":1\},?)+\}$/

/** Why an operation went to its shards, as the end of a sentence. */
export function routingReason({
  shardKey,
  kind,
  bounds,
  chunks,
}: Pick<RoutedEvent, 'shardKey' | 'kind' | 'bounds' | 'chunks'>): string {
  if (shardKey === null) return 'because the collection is not sharded'
  if (kind === 'broadcast') return broadcastReason(bounds, shardKey)
  if (bounds.length === 0) return `by the shard key ${shardKey}`
  const shown = bounds.slice(0, shownBoundsMax).map(([low, high]) => (low === high ? low : `${low} to ${high}`))
  const more = bounds.length > shown.length ? ', …' : ''
  return `because its bounds in the shard key ${shardKey} are ${shown.join(', ')}${more}, which overlap ${counted(chunks, 'chunk')}`
}

/** Multi-writes whose bounds overlap several shards go to every shard of the cluster. */
function broadcastReason(bounds: RoutedEvent['bounds'], shardKey: string): string {
  const isEverywhere = bounds.some(([low, high]) => globalMin.test(low) && high === low.replaceAll('$min', '$max'))
  return isEverywhere
    ? `a broadcast, because it does not constrain the shard key ${shardKey}`
    : `a broadcast, because it writes many documents and its bounds in the shard key ${shardKey} overlap several shards`
}
