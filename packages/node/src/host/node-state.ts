/** What a copy of a storage node begins with, instead of a disk to read. */
import type { Random, TimestampPair } from '@shardlab/actor'
import { createMemoryEngine, type StorageEngine } from '@shardlab/storage'
import { type ConnectionTable, type ParameterValue, SessionCatalog } from '@shardlab/member'
import type { NodeLog } from '../log/node-log.js'
import type { RetryHistory } from '../retry/retry-history.js'
import { SnapshotHistory } from '../read/snapshots/snapshot-history.js'
import type { NodeHost } from './node-host.js'

/** Shared by any number of copies, changed by none of them: pages of documents and indexes are copied when somebody writes. */
export interface NodeState {
  readonly engine: StorageEngine
  /** Entries that are applied and not on the disk. */
  readonly unwritten: readonly Uint8Array[]
  readonly time: TimestampPair
  readonly term: bigint
  readonly retries: RetryHistory
  readonly sessions: SessionCatalog
  readonly snapshots: SnapshotHistory
  readonly parameters: ReadonlyMap<string, ParameterValue>
}

/** What a node hands to the one that replaces it under the same connections. */
export interface NodeClients {
  readonly connections: ConnectionTable
  readonly cursorIds: Random
  readonly term: bigint
  readonly processId: Uint8Array
}

/** Costs no more than the number of collections, indexes, sessions and parameters. Nothing may be on its way to the disk. */
export function exportNodeState(node: NodeHost, log: NodeLog): NodeState {
  const engine = createMemoryEngine()
  engine.adopt(node.engine)
  const sessions = new SessionCatalog()
  sessions.adopt(node.sessions)
  const snapshots = new SnapshotHistory(engine)
  snapshots.adopt(node.snapshots)
  return {
    engine,
    unwritten: [...log.unwritten],
    time: node.clock.time,
    term: node.primary.term,
    retries: node.retries.clone(),
    sessions,
    snapshots,
    parameters: node.parameters.export(),
  }
}

/** The node has just been made. */
export function resumeNode(node: NodeHost, log: NodeLog, state: NodeState): void {
  node.engine.adopt(state.engine)
  log.resume(state.unwritten)
  node.clock.advance(state.time)
  node.primary.adopt(state.term)
  node.retries.adopt(state.retries)
  node.sessions.adopt(state.sessions)
  node.snapshots.adopt(state.snapshots)
  node.parameters.import(state.parameters)
}
