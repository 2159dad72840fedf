import type { Address, AddressDirectory } from '@shardlab/actor'
import type { Peer } from './peer.js'

export interface Link {
  /** The member's number in the address directory. */
  readonly index: number
  readonly peer: Peer
}

/**
 * A member without a link is down. Links are found on first use, because a host of a large cluster
 * talks with few of its members.
 */
export class LinkTable {
  readonly #directory: AddressDirectory
  readonly #findLink: (index: number) => Link | undefined
  readonly #links = new Map<Address, Link>()

  /** @param findLink called for a member without a link; it may {@link set} one */
  constructor(directory: AddressDirectory, findLink: (index: number) => Link | undefined) {
    this.#directory = directory
    this.#findLink = findLink
  }

  /** undefined: unknown or down. */
  to(address: Address): Link | undefined {
    return this.#links.get(address) ?? this.#find(address)
  }

  /** The directory must have the link's number. */
  set(link: Link): void {
    this.#links.set(this.#directory.addressOf(link.index)!, link)
  }

  delete(index: number): void {
    this.#links.delete(this.#directory.addressOf(index)!)
  }

  deleteThrough(peer: Peer): void {
    for (const [address, link] of this.#links) if (link.peer === peer) this.#links.delete(address)
  }

  #find(address: Address): Link | undefined {
    const index = this.#directory.indexOf(address)
    if (index === undefined) return undefined
    const known = this.#directory.addressOf(index)!
    // A further name is not cached, because it may move to another member.
    return known === address ? this.#findLink(index) : this.to(known)
  }
}
