import type { Address, AddressDirectory } from '@shardlab/actor'
import type { Peer } from './peer.js'

/** How a member is reached. */
export interface Way {
  /** The member's number. */
  readonly index: number
  readonly peer: Peer
}

/** How one host reaches members: those that have no way are down. A host talks with few members of a large cluster. */
export class Routes {
  readonly #directory: AddressDirectory
  readonly #findWay: (index: number) => Way | undefined
  readonly #ways = new Map<Address, Way>()

  /** `findWay`: to a member that has none yet; it may {@link set} it. */
  constructor(directory: AddressDirectory, findWay: (index: number) => Way | undefined) {
    this.#directory = directory
    this.#findWay = findWay
  }

  /** Undefined: there is no such member, or it is down. */
  to(address: Address): Way | undefined {
    return this.#ways.get(address) ?? this.#find(address)
  }

  /** The directory must have the number. */
  set(way: Way): void {
    this.#ways.set(this.#directory.addressOf(way.index)!, way)
  }

  delete(index: number): void {
    this.#ways.delete(this.#directory.addressOf(index)!)
  }

  /** Whoever was reached through that peer is down. */
  deleteThrough(peer: Peer): void {
    for (const [address, way] of this.#ways) if (way.peer === peer) this.#ways.delete(address)
  }

  #find(address: Address): Way | undefined {
    const index = this.#directory.indexOf(address)
    return index === undefined ? undefined : this.#findWay(index)
  }
}
