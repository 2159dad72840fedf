import type { Address } from '../contract/address.js'

/**
 * The numbers of addresses in packets, and the name service of a cluster. The runtime assigns the
 * numbers, 0, 1, 2, …, and all hosts of a cluster have the same directory. A number is never
 * assigned to a second address.
 *
 * Further names are endpoints and names that a shard was given; `localhost:27018` leads where
 * `127.0.0.1:27018` does. A replica set has a name as well, which leads to its members.
 */
export class AddressDirectory {
  readonly #addresses: (Address | undefined)[] = []
  /** Of addresses and of further names of members. */
  readonly #indexes = new Map<Address, number>()
  /** What {@link resolve} returns for each address, so that it allocates nothing. */
  readonly #selves: (readonly [Address])[] = []
  readonly #sets = new Map<string, readonly Address[]>()
  /** Further names of replica sets. */
  readonly #setNames = new Map<Address, string>()

  /** One more than the largest number assigned. */
  get size(): number {
    return this.#addresses.length
  }

  /** A further name that equals the address is dropped. */
  add(address: Address): number {
    const known = this.#indexes.get(address)
    if (known !== undefined && this.#addresses[known] === address) return known
    const index = this.#addresses.length
    this.set(index, address)
    return index
  }

  /**
   * Adds a number that another directory has assigned.
   * @throws Error when the number has another address, or the address another number
   */
  set(index: number, address: Address): void {
    const holder = this.#addresses[index]
    const named = this.#indexes.get(address)
    const known = named !== undefined && this.#addresses[named] === address ? named : undefined
    if ((holder !== undefined && holder !== address) || (known !== undefined && known !== index)) {
      throw new Error(`address ${address} cannot have the number ${index}: ${holder ?? address} has ${known ?? 'it'}`)
    }
    this.#addresses[index] = address
    this.#indexes.set(address, index)
    this.#selves[index] = [address]
    this.#setNames.delete(address)
  }

  /** Of an address or a further name, also of a set with one member. */
  indexOf(name: Address): number | undefined {
    const index = this.#indexes.get(name)
    if (index !== undefined) return index
    const members = this.#membersOf(name)
    return members?.length === 1 ? this.#indexes.get(members[0]!) : this.#indexes.get(loopbackOf(name))
  }

  addressOf(index: number): Address | undefined {
    return this.#addresses[index]
  }

  /**
   * Of an address or a further name of a member: that member. Of a replica set: its members, in the
   * order in which they joined. Of an unknown name: empty.
   */
  resolve(name: Address): readonly Address[] {
    const index = this.#indexes.get(name)
    if (index !== undefined) return this.#selves[index]!
    const members = this.#membersOf(name)
    if (members !== undefined) return members
    const local = this.#indexes.get(loopbackOf(name))
    return local === undefined ? noMembers : this.#selves[local]!
  }

  /**
   * Makes a member one of a replica set. A set whose name is the address of its only member needs
   * no entry.
   * @throws Error when the address is unknown
   */
  join(set: string, address: Address): void {
    this.#check(address)
    const members = this.#sets.get(set) ?? noMembers
    if (set !== address && !members.includes(address)) this.#sets.set(set, [...members, address])
  }

  /** The member was removed from the cluster: only its number stays. */
  leave(address: Address): void {
    const index = this.#check(address)
    for (const [set, members] of this.#sets) {
      if (!members.includes(address)) continue
      const others = members.filter((member) => member !== address)
      if (others.length === 0) this.#sets.delete(set)
      else this.#sets.set(set, others)
    }
    for (const [name, named] of this.#indexes) if (named === index && name !== address) this.#indexes.delete(name)
  }

  /**
   * Makes a member or a replica set reachable under a further name. A name of another one moves
   * here.
   * @throws Error when the address is unknown, or the name is the address of a member or the name
   *   of a set
   */
  name(address: Address, name: Address): void {
    const set = this.#isAddress(address) ? null : address
    if (set !== null && !this.#sets.has(set)) throw new Error(`there is no address ${address}`)
    if (this.#isAddress(name)) throw new Error(`${name} is the address of a member: ${address} cannot be named so`)
    if (this.#sets.has(name)) throw new Error(`${name} is a replica set: ${address} cannot be named so`)
    this.#indexes.delete(name)
    this.#setNames.delete(name)
    if (set === null) this.#indexes.set(name, this.#indexes.get(address)!)
    else this.#setNames.set(name, set)
  }

  /** The further names, each with its address or replica set. */
  names(): [name: Address, address: Address][] {
    const ofMembers = [...this.#indexes].map(([name, index]): [Address, Address] => [name, this.#addresses[index]!])
    return [...ofMembers.filter(([name, address]) => name !== address), ...this.#setNames]
  }

  entries(): [index: number, address: Address][] {
    const entries: [number, Address][] = []
    this.#addresses.forEach((address, index) => {
      if (address !== undefined) entries.push([index, address])
    })
    return entries
  }

  #membersOf(name: Address): readonly Address[] | undefined {
    return this.#sets.get(name) ?? this.#sets.get(this.#setNames.get(name) ?? name)
  }

  #isAddress(name: Address): boolean {
    const index = this.#indexes.get(name)
    return index !== undefined && this.#addresses[index] === name
  }

  #check(address: Address): number {
    const index = this.#indexes.get(address)
    if (index === undefined || this.#addresses[index] !== address) throw new Error(`there is no address ${address}`)
    return index
  }
}

const noMembers: readonly Address[] = []

/** The endpoint that most machines reach by another endpoint: localhost is 127.0.0.1. */
export const loopbackOf = (endpoint: string): string => endpoint.replace(/^localhost:/, '127.0.0.1:')
