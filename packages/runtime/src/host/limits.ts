/** Reaching a limit is a `limit` event of the member concerned. */
export interface HostLimits {
  /** A packet that reaches this size is sent before the turn ends. Default 4 MiB. */
  readonly packetBytes: number
  /** Messages held for a starting member; further ones fail as unreachable. Default 10,000. */
  readonly waitingMessages: number
  /** Of one host; further requests fail as unreachable. Default 100,000, at most 131,072. */
  readonly outstandingRequests: number
}

export const defaultLimits: HostLimits = {
  packetBytes: 4 * 1024 * 1024,
  waitingMessages: 10_000,
  outstandingRequests: 100_000,
}
