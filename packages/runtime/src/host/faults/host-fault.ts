import type { Address } from '@shardlab/actor'
import type { StrikeCount } from './strike-count.js'

/** The name of all clients in link faults. */
export const clientsAddress: Address = 'clients'

export type LinkEffect =
  /**
   * Nothing gets through, and the ends get no error. Messages that are under way when the fault is
   * healed arrive then. After `silenceMs` both ends close the link: requests without an answer
   * fail, and further ones are refused.
   */
  | { readonly type: 'partition'; readonly silenceMs: number }
  /** The delay of each message is drawn evenly; none overtakes another. */
  | { readonly type: 'delay'; readonly minMs: number; readonly maxMs: number }
  /** Limits each direction of each link; a message arrives with its last byte. */
  | { readonly type: 'limit'; readonly bytesPerSecond: number }
  /** The receiver takes that time for each message, one after the other. */
  | { readonly type: 'slow'; readonly perMessageMs: number }
  /** The connection breaks with the message: both ends notice, and unanswered requests fail. */
  | { readonly type: 'drop' }
  /** New connections are refused: requests fail at once, as undelivered. */
  | { readonly type: 'refuse' }
  /**
   * The client gets half an answer, then the connection breaks. Between members like `drop`, for
   * answers only.
   */
  | { readonly type: 'cut' }
  /**
   * A request of {@link repeatedKinds} is served twice at the same time, as when its sender lost
   * the connection and repeated it; the first answer is lost.
   */
  | { readonly type: 'duplicate' }

/**
 * `everybody`: all members and clients. Groups include members that join later. Several members at
 * one end and a group at the other: links between these members are not affected.
 */
export type LinkEnd = 'everybody' | 'members' | 'shards' | 'routers' | readonly Address[]

/**
 * Plain data. Applies to messages of members and commands of clients, not to the API's own
 * requests.
 */
export interface LinkFault {
  readonly id: number
  readonly scope: 'link'
  readonly effect: LinkEffect
  readonly from: LinkEnd
  readonly to: LinkEnd
  readonly bothWays: boolean
  /** null: all kinds. */
  readonly kinds: readonly string[] | null
  /** The limit of strikes on all links together; null: until healed. */
  readonly times: number | null
  readonly strikes: StrikeCount
  /** The probability of each strike, above 0 and at most 1. */
  readonly probability: number
  /** The seed of the draws; null: each host draws from its own fork of the world's generator. */
  readonly seed: number | null
}

export type MemberEffect =
  /** Messages and timers wait until the fault is healed. */
  | { readonly type: 'freeze' }
  /** Appends run one after the other. */
  | { readonly type: 'slow-disk'; readonly perAppendMs: number }
  /** New records and checkpoints are refused; accepted records are written. */
  | { readonly type: 'full-disk' }
  /** A clock that is skewed back stands still until the time is reached again. */
  | { readonly type: 'clock-skew'; readonly skewMs: number }
  /** A negative jump sets the clock back. Timers are not moved. */
  | { readonly type: 'clock-jump'; readonly jumpMs: number }

export interface MemberFault {
  readonly id: number
  readonly scope: 'member'
  readonly effect: MemberEffect
  readonly address: Address
}

export type HostFault = LinkFault | MemberFault

export type NewHostFault = NewLinkFault | Omit<MemberFault, 'id'>
export type NewLinkFault = Omit<LinkFault, 'id' | 'strikes'>

/** The promises resolve once every host has applied or healed the fault. */
export interface FaultBroadcast {
  apply(fault: HostFault): Promise<void>
  heal(id: number): Promise<void>
}
