import type { Address } from '@shardlab/actor'
import type { StrikeCount } from './strike-count.js'

/** Who is at the other end of a link when it is no member. */
export const clientsAddress: Address = 'clients'

/** What happens to what travels on a link. */
export type LinkEffect =
  /**
   * Nothing gets through and nobody is told. What is on its way when the fault is healed arrives then. After `silenceMs` both ends give the
   * link up: requests without an answer fail, and further ones are refused.
   */
  | { readonly type: 'partition'; readonly silenceMs: number }
  /** Each message takes that much longer, drawn evenly; none overtakes another. */
  | { readonly type: 'delay'; readonly minMs: number; readonly maxMs: number }
  /** So many bytes get through in a second, in each direction of each link; a message arrives with its last byte. */
  | { readonly type: 'limit'; readonly bytesPerSecond: number }
  /** Messages are taken one after the other, and each costs that much. */
  | { readonly type: 'slow'; readonly perMessageMs: number }
  /** The connection breaks with the message: both ends know, and requests without an answer fail. */
  | { readonly type: 'drop' }
  /** No connection can be made: requests fail at once and have certainly not been delivered. */
  | { readonly type: 'refuse' }
  /** The other end gets half an answer, and then the connection breaks. Between members the same as `drop`, for answers alone. */
  | { readonly type: 'cut' }
  /**
   * A request of {@link repeatedKinds} is served twice at the same time, as when its sender has lost the connection and asked again; the first
   * answer is lost.
   */
  | { readonly type: 'duplicate' }

/** `everybody` are all members and clients. Who joins later is among them. */
export type LinkEnd = 'everybody' | 'members' | 'shards' | 'routers' | readonly Address[]

/** A fault of links; plain data. The API's own requests are not subject to it, commands of clients are. */
export interface LinkFault {
  readonly id: number
  readonly scope: 'link'
  readonly effect: LinkEffect
  readonly from: LinkEnd
  readonly to: LinkEnd
  readonly bothWays: boolean
  /** Only messages of these kinds; null: all. */
  readonly kinds: readonly string[] | null
  /** How often it strikes, on all links together; null: until healed. */
  readonly times: number | null
  /** How often it has struck. */
  readonly strikes: StrikeCount
  /** With which probability it strikes, above 0 and at most 1. */
  readonly probability: number
  /** Of the draws; null: each host draws with a generator of its own, from the seed of the world. */
  readonly seed: number | null
}

/** What is wrong with one member. */
export type MemberEffect =
  /** It does nothing until it is healed: what arrives waits, and so do its timers. */
  | { readonly type: 'freeze' }
  /** Each append takes that much, one after the other. */
  | { readonly type: 'slow-disk'; readonly perAppendMs: number }
  /** There is no room: nothing new is accepted, and checkpoints are refused; what has been accepted finds its place. */
  | { readonly type: 'full-disk' }
  /** Its clock differs by that much. Set back, it stands until the time has come again. */
  | { readonly type: 'clock-skew'; readonly skewMs: number }
  /** Somebody sets its clock: the same, but set back it goes back. What waits for a time that has passed waits as long as before. */
  | { readonly type: 'clock-jump'; readonly jumpMs: number }

/** A fault of one member; plain data. */
export interface MemberFault {
  readonly id: number
  readonly scope: 'member'
  readonly effect: MemberEffect
  readonly address: Address
}

/** A fault that every host knows. */
export type HostFault = LinkFault | MemberFault

/** A fault that has not been applied yet. */
export type NewHostFault = NewLinkFault | Omit<MemberFault, 'id'>
export type NewLinkFault = Omit<LinkFault, 'id' | 'strikes'>

/** How faults reach the hosts of a world; each resolves once every host has acted. */
export interface FaultBroadcast {
  apply(fault: HostFault): Promise<void>
  heal(id: number): Promise<void>
}
