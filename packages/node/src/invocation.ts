import type { CommandArguments, NodeCommand } from '@shardlab/actor'
import type { MemberInvocation, Concerns, SessionId } from '@shardlab/member'
import type { StorageNode } from './storage-node.js'

/** The retryable write that a command belongs to. */
export interface RetryableWrite {
  readonly session: SessionId
  readonly txnNumber: bigint
  /** Statement id of each statement of the batch. */
  stmtId(index: number): number
}

/** One run of a command on a storage node. */
export interface NodeInvocation extends MemberInvocation {
  readonly host: StorageNode
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  /** What a router sent along; null when a client asked directly. */
  readonly routed: NodeCommand | null
  readonly retryable: RetryableWrite | null
  readonly concerns: Concerns
  /** The view that the client named, when the command runs on what is below it: its cursor bears this name. */
  readonly cursorNs?: string
}
