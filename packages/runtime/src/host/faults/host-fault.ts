import type { Address } from '@shardlab/actor'
import type { StrikeCount } from './strike-count.js'

/** The name of all clients in link faults. */
export const clientsAddress: Address = 'clients'

/** What a link fault does to messages. */
export type LinkEffect =
  /**
   * Nothing gets through, and the ends get no error. Messages that are under way when the fault is
   * healed arrive then. After `silenceMs` both ends close the link: requests without an answer
   * fail, and further ones are refused.
   */
  | { readonly type: 'partition'; readonly silenceMs: number }
  /** Each message is delayed, by a time drawn evenly; none overtakes another. */
  | { readonly type: 'delay'; readonly minMs: number; readonly maxMs: number }
  /**
   * Limits the bytes per second, in each direction of each link; a message arrives with its last
   * byte.
   */
  | { readonly type: 'limit'; readonly bytesPerSecond: number }
  /** The receiver takes that time for each message, one after the other. */
  | { readonly type: 'slow'; readonly perMessageMs: number }
  /**
   * The connection breaks with the message: both ends notice, and requests without an answer fail.
   */
  | { readonly type: 'drop' }
  /** New connections are refused: requests fail at once, as undelivered. */
  | { readonly type: 'refuse' }
  /**
   * The client gets half an answer, then the connection breaks. Between members the same as `drop`,
   * for answers only.
   */
  | { readonly type: 'cut' }
  /**
   * A request of {@link repeatedKinds} is served twice at the same time, as when its sender has
   * lost the connection and repeated it; the first answer is lost.
   */
  | { readonly type: 'duplicate' }

/**
 * The senders or receivers of a fault. `everybody`: all members and clients. Groups include members
 * that join later.
 */
export type LinkEnd = 'everybody' | 'members' | 'shards' | 'routers' | readonly Address[]

/**
 * A fault of links; plain data. It applies to messages of members and to commands of clients, not
 * to the API's own requests.
 */
export interface LinkFault {
  readonly id: number
  readonly scope: 'link'
  readonly effect: LinkEffect
  readonly from: LinkEnd
  readonly to: LinkEnd
  readonly bothWays: boolean
  /** Only messages of these kinds; null: all. */
  readonly kinds: readonly string[] | null
  /** How often it strikes, all links counted together; null: until healed. */
  readonly times: number | null
  /** How often it has struck. */
  readonly strikes: StrikeCount
  /** The probability of a strike, above 0 and at most 1. */
  readonly probability: number
  /**
   * The seed of its draws; null: each host draws from a generator of its own, forked from the
   * world's.
   */
  readonly seed: number | null
}

/** What a fault of one member does to it. */
export type MemberEffect =
  /** It does nothing until it is healed; messages and timers wait. */
  | { readonly type: 'freeze' }
  /** Each append takes that long, one after the other. */
  | { readonly type: 'slow-disk'; readonly perAppendMs: number }
  /** The disk refuses new records and checkpoints, and writes the records that it has accepted. */
  | { readonly type: 'full-disk' }
  /**
   * Its clock differs by that time. A clock that is skewed back stands still until the time is
   * reached again.
   */
  | { readonly type: 'clock-skew'; readonly skewMs: number }
  /** Its clock is set by that time, and goes back if it is negative. Timers are not moved. */
  | { readonly type: 'clock-jump'; readonly jumpMs: number }

/** A fault of one member; plain data. */
export interface MemberFault {
  readonly id: number
  readonly scope: 'member'
  readonly effect: MemberEffect
  readonly address: Address
}

/** A fault as every host applies it. */
export type HostFault = LinkFault | MemberFault

/** A fault that has not been applied yet. */
export type NewHostFault = NewLinkFault | Omit<MemberFault, 'id'>
export type NewLinkFault = Omit<LinkFault, 'id' | 'strikes'>

/**
 * Sends faults to the hosts of a world; the promises resolve once every host has applied or healed
 * the fault.
 */
export interface FaultBroadcast {
  apply(fault: HostFault): Promise<void>
  heal(id: number): Promise<void>
}
