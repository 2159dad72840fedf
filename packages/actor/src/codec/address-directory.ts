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

  add(address: Address): number {
    const known = this.#indexes.get(address)
    if (known !== undefined) return known
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
    const known = this.#indexes.get(address)
    if ((holder !== undefined && holder !== address) || (known !== undefined && known !== index)) {
      throw new Error(`address ${address} cannot have the number ${index}: ${holder ?? address} has ${known ?? 'it'}`)
    }
    this.#addresses[index] = address
    this.#indexes.set(address, index)
  }

  indexOf(address: Address): number | undefined {
    return this.#indexes.get(address)
  }

  addressOf(index: number): Address | undefined {
    return this.#addresses[index]
  }

  entries(): [index: number, address: Address][] {
    const entries: [number, Address][] = []
    this.#addresses.forEach((address, index) => {
      if (address !== undefined) entries.push([index, address])
    })
    return entries
  }
}
