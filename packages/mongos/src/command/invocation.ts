import type { MemberInvocation, Concerns, SessionId } from '@shardlab/member'
import type { CommandArguments } from '@shardlab/actor'
import type { Mongos } from '../mongos.js'
import type { Operation } from './operation.js'

/** One run of a command on a router. */
export interface MongosInvocation extends MemberInvocation {
  readonly host: Mongos
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly session: SessionId | null
  /** Of a retryable write; null: the command is none. */
  readonly txnNumber: bigint | null
  readonly concerns: Concerns
  readonly operation: Operation
  /** The view that the client named, when the command runs on what is below it: its cursor bears this name. */
  readonly cursorNs?: string
  /** The explain around the command. */
  readonly explain?: Uint8Array
}
