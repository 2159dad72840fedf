/** Manual: reference/read-concern-snapshot. */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { CommandError, findField, firstFieldName, sameBytes } from '@shardlab/bson'
import { opTimeOf, type Collection, type StorageEngine } from '@shardlab/storage'
import type { NodeHost } from '../../host/node-host.js'
import { linkToLive, liveNode } from './live-node.js'

/**
 * Reading commands find the collections of that time; everything else is current. The node cannot
 * be written to, because it lacks the live node's private state; see `liveNode`.
 * @param engine the data at that time
 */
export function nodeAtTime(node: NodeHost, engine: StorageEngine, time: TimestampPair): NodeHost {
  return nodeWith(node, { value: engine }, (ns) => collectionAt(node, engine, time, ns))
}

/**
 * As {@link nodeAtTime}, with what a majority has whenever the command looks at a collection: the
 * collection may be replaced while the command waits for a critical section.
 */
export function nodeOfMajority(node: NodeHost): NodeHost {
  const engine = (): StorageEngine => node.set.majorityEngine()
  return nodeWith(node, { get: engine }, (ns) => engine().collection(ns))
}

/** The node with other data. */
export function nodeWith(node: NodeHost, engine: PropertyDescriptor, collection: NodeHost['collection']): NodeHost {
  const past = Object.create(node, {
    engine,
    oplog: { value: node.oplog },
    collection: { value: collection },
  }) as NodeHost
  linkToLive(past, liveNode(node))
  return past
}

/** @throws CommandError 246 SnapshotUnavailable */
function collectionAt(node: NodeHost, engine: StorageEngine, time: TimestampPair, ns: string): Collection | undefined {
  const { snapshotsHaveTheirCatalog, snapshotReadsOfCapped } = node.behaviours
  const past = engine.collection(ns)
  if (!snapshotsHaveTheirCatalog) {
    const live = node.engine.collection(ns)
    if (live === undefined) return undefined
    if (past === undefined || !sameBytes(past.uuid, live.uuid)) throw catalogChanged(node, time, ns)
  }
  if (past !== undefined && past.capped !== null && !snapshotReadsOfCapped)
    throw new CommandError(
      'SnapshotUnavailable',
      'Reading from capped collections with readConcern snapshot is not supported',
    )
  return past
}

function catalogChanged(node: NodeHost, time: TimestampPair, ns: string): CommandError {
  const text = ([seconds, increment]: TimestampPair) => `Timestamp(${seconds}, ${increment})`
  const minimum = text(timeOfLastChange(node, time, ns))
  return new CommandError(
    'SnapshotUnavailable',
    `Unable to read from a snapshot due to pending collection catalog changes; please retry the operation. Snapshot timestamp is ${text(time)}. Collection minimum is ${minimum}`,
  )
}

/** When the collection got its name. */
function timeOfLastChange(node: NodeHost, after: TimestampPair, ns: string): TimestampPair {
  for (const [, entry] of node.oplog.window().entriesBackwards()) {
    const { ts } = opTimeOf(entry)
    if (compareTimestamps(ts, after) <= 0) break
    if (findField(entry, 'op')!.asString() !== 'c') continue
    const object = findField(entry, 'o')!.slice()
    const command = firstFieldName(object)
    const name = findField(object, command!)!
    if (command === 'create' && ns === `${dbOf(findField(entry, 'ns')!.asString())}.${name.asString()}`) return ts
    if (command === 'renameCollection' && findField(object, 'to')?.asString() === ns) return ts
  }
  return node.clock.time
}

const dbOf = (ns: string): string => ns.slice(0, ns.indexOf('.'))
