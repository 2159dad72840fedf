import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'

/** Documents that are fetched in batches. */
export interface DocumentStream {
  /** The next fetched document; null: {@link fill} first, or the stream has ended. */
  take(): Uint8Array | null
  /** Whether the stream has ended. */
  readonly done: boolean
  /** Whether unreachable shards were left out. Absent: never. */
  readonly isPartial?: boolean
  /**
   * Fetches more documents. Called after `take` returned null while not `done`.
   * @throws CommandError of a shard or of the request to it
   */
  fill(invocation: MongosInvocation): Promise<void>
  /** Called between two commands: copies what lies in buffers of the last reply. */
  detach(): void
  /** Closes the cursors that are open on shards. */
  kill(host: RoutingHost): void
}
