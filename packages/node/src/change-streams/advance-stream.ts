import { compareTimestamps, type RequestOf } from '@shardlab/actor'
import { committedEntries } from '../cursors/insert-waiters.js'
import type { NodeHost } from '../host/node-host.js'
import { ChangeStreamSource } from './change-stream-source.js'

/** Lets a stream of a router pass a time, although this member has nothing to report. */
export function advanceStream(node: NodeHost, { cursorId, clusterTime }: RequestOf<'node.advance-stream'>): void {
  node.clock.advance(clusterTime)
  const source = cursorId === null ? undefined : node.cursors.find(BigInt(cursorId))?.source
  if (source instanceof ChangeStreamSource) source.advanceTo(clusterTime)
  const { set, options, parameters } = node
  const isAsked = options.periodicNoopIntervalSecs === undefined && parameters.bool('writePeriodicNoops')
  if (isAsked && set.isWritablePrimary && compareTimestamps(set.appliedTs, clusterTime) <= 0)
    set.appendNoop('periodic noop')
  node.insertWaiters.notify(committedEntries)
}
