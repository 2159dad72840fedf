/** A copy of a storage node starts from this state instead of a disk. */
import { objectIdAfter, type Random, type TimestampPair } from '@shardlab/actor'
import type { TimeKey } from '@shardlab/auth'
import { createMemoryEngine, type StorageEngine } from '@shardlab/storage'
import { applyLogParameters, type ConnectionTable, type ParameterValue, SessionCatalog } from '@shardlab/member'
import type { NodeLog } from '../log/node-log.js'
import type { Oplog } from '../log/oplog.js'
import type { RetryHistory } from '../retry/retry-history.js'
import type { LoggedTransactions } from '../transactions/log/logged-transactions.js'
import type { ExportedHistory } from '../read/snapshots/snapshot-history.js'
import type { NodeHost } from './node-host.js'

/**
 * Shared by any number of copies and never modified: pages of documents and indexes are copied on
 * write.
 */
export interface NodeState {
  readonly engine: StorageEngine
  readonly unwritten: readonly Uint8Array[]
  readonly oplog: Oplog
  readonly time: TimestampPair
  readonly timeKeys: readonly TimeKey[]
  readonly retries: RetryHistory
  readonly transactions: LoggedTransactions
  readonly sessions: SessionCatalog
  readonly snapshots: ExportedHistory
  readonly parameters: ReadonlyMap<string, ParameterValue>
}

/** State that survives when a node is replaced while its client connections stay open. */
export interface NodeClients {
  readonly connections: ConnectionTable
  /** A client may still hold the id of a lost cursor: it must not become that of another one. */
  readonly cursorIds: Random
  readonly term: number
  readonly processId: Uint8Array
}

/**
 * Costs O(collections + indexes + sessions + parameters). No write to the disk may be in progress.
 */
export function exportNodeState(node: NodeHost, log: NodeLog): NodeState {
  const engine = createMemoryEngine()
  engine.adopt(node.engine)
  const sessions = new SessionCatalog()
  sessions.adopt(node.sessions)
  return {
    engine,
    unwritten: [...log.unwritten],
    oplog: log.oplog.clone(),
    time: node.clock.time,
    timeKeys: node.timeKeys?.signer.keys ?? [],
    retries: node.retries.clone(),
    transactions: log.transactions.clone(),
    sessions,
    snapshots: node.snapshots.export(),
    parameters: node.parameters.export(),
  }
}

export function exportNodeClients({ connections, processId, set }: NodeHost, cursorIds: Random): NodeClients {
  return { connections, cursorIds, term: set.coordinator.state.term, processId }
}

/**
 * A new process id makes every awaitable hello reply, even if the same state is restored
 * repeatedly.
 */
export const processIdAfter = ({ processId }: NodeClients): Uint8Array => objectIdAfter(processId)

/** @param node newly constructed */
export function resumeNode(node: NodeHost, log: NodeLog, state: NodeState): void {
  node.engine.adopt(state.engine)
  log.resume(state.unwritten, state.oplog)
  node.clock.advance(state.time)
  node.timeKeys?.signer.learn(state.timeKeys)
  node.retries.adopt(state.retries)
  log.transactions.adopt(state.transactions)
  node.sessions.adopt(state.sessions)
  node.snapshots.adopt(state.snapshots)
  node.parameters.import(state.parameters)
  applyLogParameters(node)
}
