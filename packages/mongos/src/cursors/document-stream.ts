import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'

export interface DocumentStream {
  /** Null: {@link fill} first, or the stream has ended. */
  take(): Uint8Array | null
  readonly done: boolean
  /** Absent: no shards are left out. */
  readonly isPartial?: boolean
  /**
   * Called after `take` returned null while not `done`.
   * @throws CommandError of a shard or of the request to it
   */
  fill(invocation: MongosInvocation): Promise<void>
  /** Runs between two commands: copies the documents that are in buffers of the last reply. */
  detach(): void
  /** Closes the cursors on shards. */
  kill(host: RoutingHost): void
}
