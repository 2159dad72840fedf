import type { Address } from '../contract/address.js'

/**
 * The numbers of addresses in packets. The runtime assigns them, 0, 1, 2, …, and all hosts of a
 * cluster have the same directory. A number is never assigned to a second address.
 */
export class AddressDirectory {
  readonly #addresses: (Address | undefined)[] = []
  readonly #indexes = new Map<Address, number>()

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
  }

  /** Of an address or a further name. */
  indexOf(address: Address): number | undefined {
    return this.#indexes.get(address)
  }

  addressOf(index: number): Address | undefined {
    return this.#addresses[index]
  }

  /**
   * Makes an address reachable under a further name. A name of another address moves here.
   * @throws Error when the address is unknown, or the name is the address of a member
   */
  name(address: Address, name: Address): void {
    const index = this.#indexes.get(address)
    if (index === undefined || this.#addresses[index] !== address) throw new Error(`there is no address ${address}`)
    const holder = this.#indexes.get(name)
    if (holder !== undefined && this.#addresses[holder] === name)
      throw new Error(`${name} is the address of a member: ${address} cannot be named so`)
    this.#indexes.set(name, index)
  }

  /** The further names, each with the number of its address. */
  names(): [name: Address, index: number][] {
    return [...this.#indexes].filter(([name, index]) => this.#addresses[index] !== name)
  }

  entries(): [index: number, address: Address][] {
    const entries: [number, Address][] = []
    this.#addresses.forEach((address, index) => {
      if (address !== undefined) entries.push([index, address])
    })
    return entries
  }
}
