import { AddressDirectory, clusterAddress, type Address } from '@shardlab/actor'

/** What one process tells another about a member; numbers are those of the teller. */
export interface DirectoryEntry {
  readonly index: number
  readonly address: Address
  readonly set: string | null
  /** The port of the server in whose process the member runs. */
  readonly owner: number | null
}

export interface DirectoryContent {
  readonly entries: readonly DirectoryEntry[]
  /** Further names, each with its address or replica set. */
  readonly names: readonly (readonly [name: Address, address: Address])[]
}

/** The directory of one process. It grows as members of other processes become known. */
export class ProcessDirectory extends AddressDirectory {
  /** Grows with each change. */
  version = 0
  readonly #setOf = new Map<Address, string>()
  readonly #targetOf = new Map<Address, Address>()
  readonly #ownerOf = new Map<Address, number>()
  readonly #findMissing: (name: Address) => boolean

  /** @param findMissing called with an unknown name; @returns whether it is known now */
  constructor(findMissing: (name: Address) => boolean) {
    super()
    this.#findMissing = findMissing
  }

  override set(index: number, address: Address): void {
    super.set(index, address)
    this.version++
  }

  override join(set: string, address: Address): void {
    if (this.#setOf.get(address) === set) return
    super.join(set, address)
    this.#setOf.set(address, set)
    this.version++
  }

  override name(address: Address, name: Address): void {
    if (name === address || this.#targetOf.get(name) === address) return
    super.name(address, name)
    this.#targetOf.set(name, address)
    this.version++
  }

  override indexOf(name: Address): number | undefined {
    return super.indexOf(name) ?? (this.#findMissing(name) ? super.indexOf(name) : undefined)
  }

  override resolve(name: Address): readonly Address[] {
    const found = super.resolve(name)
    return found.length === 0 && this.#findMissing(name) ? super.resolve(name) : found
  }

  /** Whether it is the address of a member, or the name of a set. */
  isProper(name: Address): boolean {
    const index = super.indexOf(name)
    return (index !== undefined && this.addressOf(index) === name) || [...this.#setOf.values()].includes(name)
  }

  setOf(address: Address): string | null {
    return this.#setOf.get(address) ?? null
  }

  ownerOf(address: Address): number | undefined {
    return this.#ownerOf.get(address)
  }

  own(address: Address, owner: number): void {
    if (this.#ownerOf.get(address) === owner) return
    this.#ownerOf.set(address, owner)
    this.version++
  }

  /** @param self the owner of members that no other process has */
  content(self: number): DirectoryContent {
    const entries = this.entries().map(([index, address]): DirectoryEntry => {
      const owner = address === clusterAddress ? null : (this.#ownerOf.get(address) ?? self)
      return { index, address, set: this.setOf(address), owner }
    })
    return { entries, names: this.names() }
  }
}
