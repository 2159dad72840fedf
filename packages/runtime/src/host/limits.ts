/** How much a host lets pile up. Reaching a limit is a `limit` event of the member concerned. */
export interface HostLimits {
  /** A packet that grew to this size leaves before the turn ends. Default 4 MiB. */
  readonly packetBytes: number
  /** Messages that wait for a member to start; more are refused as if it could not be reached. Default 10,000. */
  readonly waitingMessages: number
  /** Requests of one host without an answer; more are refused as if the peer could not be reached. Default 100,000, at most 131,072. */
  readonly outstandingRequests: number
}

export const defaultLimits: HostLimits = {
  packetBytes: 4 * 1024 * 1024,
  waitingMessages: 10_000,
  outstandingRequests: 100_000,
}
