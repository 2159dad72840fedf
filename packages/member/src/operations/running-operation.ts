import {
  Cancellation,
  RequestFailedError,
  type ActorContext,
  type CancelSignal,
  type CommandArguments,
} from '@shardlab/actor'
import type { CommandAccess, UsedPrivilege, UserName } from '@shardlab/auth'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { TimeLimit } from './time-limit.js'
import { withComment } from './with-comment.js'
import type { SessionId } from '../sessions/session-catalog.js'

export interface OperationRequest {
  /** Name of the command's row. */
  readonly command: string
  readonly db: string
  readonly body: Uint8Array
  /** 0: the command is from another member. */
  readonly connectionId: number
  /** `host:port` of the client; empty: the command is from another member. */
  readonly remote: string
  readonly startedAtMs: number
  /** By `steadyNow`. */
  readonly startedSteadyMs: number
}

/**
 * One running command. A kill ends its waits; a command that computes runs until its next
 * {@link RunningOperation.checkForInterrupt}. Server: operation_context.cpp. Manual:
 * reference/command/killOp.
 */
export class RunningOperation {
  readonly id: number
  readonly command: string
  readonly db: string
  readonly body: Uint8Array
  readonly connectionId: number
  readonly remote: string
  readonly startedAtMs: number
  /** For durations: a clock that is set back would make them negative. Server: a tick source. */
  readonly startedSteadyMs: number
  /** Null: the arguments are not read yet, or the command has none. */
  session: SessionId | null = null
  /** Of the client. Null: access control is off, or the command is from another member. */
  users: readonly UserName[] | null = null
  /** Of the users; null with them. */
  access: CommandAccess | null = null
  /** What its check needed. Null: there was none, or the command opens no cursor. */
  usedPrivileges: readonly UsedPrivilege[] | null = null
  /** Null: not read yet. */
  args: CommandArguments | null = null
  /** Error labels set by a fail point, which replace those of the failure; null: none. */
  errorLabels: readonly string[] | null = null
  /** A fail point passes errors about state changes to the client unchanged. */
  showsStateChanges = false
  /** A fail point lets the command run, closes the connection and sends no reply. */
  closesConnection = false
  /** By `maxTimeMS` on this member; null: none */
  timeLimit: TimeLimit | null = null
  /** {@link ClientReply.again} of the reply. */
  repeats = false
  /** Of the router's operation that it serves; 0: none. */
  requesterKey = 0
  /** Called once, when the operation is killed. */
  onInterrupt: ((operationId: number) => void) | null = null
  /** `{ comment }` of the command that opened the cursor of this getMore; null: none. */
  inheritedComment: Uint8Array | null = null
  /** How often it gave up its turn. */
  yields = 0
  previous: RunningOperation | null = null
  next: RunningOperation | null = null
  /** That of the command, for the commands that it sends; null: not encoded yet, or it has none. */
  #comment: Uint8Array | null = null
  #interruption: CommandError | null = null
  #waiting: Cancellation | null = null
  /**
   * Rejects the promise of {@link interruptible}; the set holds those of further concurrent calls.
   */
  #waiter: ((error: CommandError) => void) | null = null
  #pending: Set<(error: CommandError) => void> | null = null

  constructor(id: number, request: OperationRequest) {
    this.id = id
    this.command = request.command
    this.db = request.db
    this.body = request.body
    this.connectionId = request.connectionId
    this.remote = request.remote
    this.startedAtMs = request.startedAtMs
    this.startedSteadyMs = request.startedSteadyMs
  }

  /** `{ comment }`: that of the command, else the inherited one; null: none. */
  get comment(): Uint8Array | null {
    if (this.#comment !== null) return this.#comment
    const own = this.args?.value('comment')
    if (own === undefined) return this.inheritedComment
    return (this.#comment = new DocumentWriter(64).value('comment', own).finish())
  }

  /** As the command would be if it had the inherited comment. */
  get describedBody(): Uint8Array {
    return withComment(this.body, this.inheritedComment)
  }

  get killed(): boolean {
    return this.#interruption !== null
  }

  /** Aborted when the operation is killed and when the member shuts down. Created on first use. */
  get signal(): CancelSignal {
    this.#waiting ??= new Cancellation()
    if (this.#interruption !== null) this.#waiting.abort()
    return this.#waiting.signal
  }

  /** The first error counts. */
  interrupt(error = new CommandError('Interrupted', 'operation was interrupted')): void {
    if (this.#interruption !== null) return
    this.#interruption = error
    this.#waiting?.abort()
    this.#waiter?.(error)
    for (const reject of this.#pending ?? []) reject(error)
    this.onInterrupt?.(this.id)
  }

  /** Ends waits under {@link signal} without killing the operation. */
  stopWaiting(): void {
    this.#waiting ??= new Cancellation()
    this.#waiting.abort()
  }

  /** @throws CommandError 11601 Interrupted, or the error that it was killed with */
  checkForInterrupt(): void {
    if (this.#interruption !== null) throw this.#interruption
  }

  /**
   * Waits for `shared` or until the operation is killed. After a kill, `shared` continues and its
   * result is dropped.
   * @param use maps the result; default: the identity. An error that it throws rejects the promise.
   * @param recover maps the failure; default: rejects with it
   * @throws CommandError 11601 Interrupted
   */
  interruptible<T, R = T>(
    shared: Promise<T>,
    use?: (value: T) => R | Promise<R>,
    recover?: (error: unknown) => R | Promise<R>,
  ): Promise<R> {
    if (this.#interruption !== null) {
      shared.catch(() => {})
      return Promise.reject(this.#interruption)
    }
    return new Promise((resolve, reject) => {
      this.#await(reject)
      // One promise for all three: every client command that goes to a shard waits here.
      shared.then(
        (value) => {
          if (!this.#stopAwaiting(reject)) return
          let made: R | Promise<R>
          try {
            made = use === undefined ? (value as unknown as R) : use(value)
          } catch (error) {
            return reject(error)
          }
          resolve(made)
        },
        (failure: unknown) => {
          if (!this.#stopAwaiting(reject)) return
          let made: R | Promise<R>
          try {
            if (recover === undefined) return reject(failure)
            made = recover(failure)
          } catch (error) {
            return reject(error)
          }
          resolve(made)
        },
      )
    })
  }

  #await(reject: (error: CommandError) => void): void {
    if (this.#waiter === null) this.#waiter = reject
    else (this.#pending ??= new Set()).add(reject)
  }

  /** False: the operation was killed, and the promise is already rejected. */
  #stopAwaiting(reject: (error: CommandError) => void): boolean {
    if (this.#interruption !== null) return false
    if (this.#waiter === reject) this.#waiter = null
    else this.#pending?.delete(reject)
    return true
  }

  /**
   * @returns false when the member shuts down, else true
   * @throws CommandError 11601 Interrupted
   */
  async sleep(context: ActorContext, durationMs: number): Promise<boolean> {
    try {
      await context.sleep(durationMs, this.signal)
      return true
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      this.checkForInterrupt()
      return false
    }
  }
}
