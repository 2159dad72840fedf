import {
  Cancellation,
  RequestFailedError,
  type ActorContext,
  type CancelSignal,
  type CommandArguments,
} from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { TimeLimit } from './time-limit.js'
import type { SessionId } from '../sessions/session-catalog.js'

/** What is known of an operation when it begins. */
export interface OperationRequest {
  /** Name of the command's row. */
  readonly command: string
  readonly db: string
  readonly body: Uint8Array
  /** 0: it came from another member. */
  readonly connectionId: number
  /** `host:port` of the client; empty for another member. */
  readonly remote: string
  readonly startedAtMs: number
}

/**
 * One command while it runs. Killing it ends what it waits for; what does not wait runs to its next
 * {@link RunningOperation.checkForInterrupt}. Server: operation_context.cpp; manual: reference/command/killOp.
 */
export class RunningOperation {
  readonly id: number
  readonly command: string
  readonly db: string
  readonly body: Uint8Array
  readonly connectionId: number
  readonly remote: string
  readonly startedAtMs: number
  /** Null until the arguments are read, and for commands without one. */
  session: SessionId | null = null
  /** Null until they are read. */
  args: CommandArguments | null = null
  /** The labels that a fail point gives to the failure of the command, instead of its own; null: no fail point does. */
  errorLabels: readonly string[] | null = null
  /** Whether a fail point wants its client to see errors about the state of a member as they are. */
  showsStateChanges = false
  /** What `maxTimeMS` allows the command on this member; null: as long as it takes. */
  timeLimit: TimeLimit | null = null
  /** Its neighbours among the operations that run; of their registry. */
  previous: RunningOperation | null = null
  next: RunningOperation | null = null
  #interruption: CommandError | null = null
  #waiting: Cancellation | null = null
  /** The end of the promise that {@link interruptible} has given out; of further ones at the same time in the set. */
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
  }

  get killed(): boolean {
    return this.#interruption !== null
  }

  /** Aborted when the operation is killed and when the member shuts down. Made on first use. */
  get signal(): CancelSignal {
    this.#waiting ??= new Cancellation()
    if (this.#interruption !== null) this.#waiting.abort()
    return this.#waiting.signal
  }

  /** Marks the operation; the first reason counts. */
  interrupt(error = new CommandError('Interrupted', 'operation was interrupted')): void {
    if (this.#interruption !== null) return
    this.#interruption = error
    this.#waiting?.abort()
    this.#waiter?.(error)
    for (const reject of this.#pending ?? []) reject(error)
  }

  /** Ends waits under {@link signal} without killing the operation. */
  stopWaiting(): void {
    this.#waiting ??= new Cancellation()
    this.#waiting.abort()
  }

  /** @throws CommandError 11601 Interrupted, or what else it was killed with */
  checkForInterrupt(): void {
    if (this.#interruption !== null) throw this.#interruption
  }

  /**
   * Waits for something that others do, until the operation is killed; that goes on then and its result is lost.
   * @param use makes the result of what they did; default: that itself. What it throws, the promise is rejected with.
   * @param recover the same of their failure; default: the failure itself
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
      // One promise for all three: every command of a client that goes to a shard waits here.
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

  /** False: the operation has been killed, and whoever waited has been told. */
  #stopAwaiting(reject: (error: CommandError) => void): boolean {
    if (this.#interruption !== null) return false
    if (this.#waiter === reject) this.#waiter = null
    else this.#pending?.delete(reject)
    return true
  }

  /**
   * Sleeps on the member's clock.
   * @returns whether the time is over; false: the member shuts down
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
