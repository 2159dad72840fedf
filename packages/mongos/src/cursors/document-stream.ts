import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'

/** Documents that arrive in batches from elsewhere. */
export interface DocumentStream {
  /** The next document that is here; null: none is, or all have been taken. */
  take(): Uint8Array | null
  /** Nothing comes any more. */
  readonly done: boolean
  /** Shards that could not be reached were passed over. Absent: never. */
  readonly isPartial?: boolean
  /**
   * Gets more documents here; called after `take` gave null while not `done`.
   * @throws CommandError of a shard or of the way to it
   */
  fill(invocation: MongosInvocation): Promise<void>
  /** Called when the stream waits for another command: lets go of the messages that its documents lie in. */
  detach(): void
  /** Closes what is open on the shards. */
  kill(host: RoutingHost): void
}
