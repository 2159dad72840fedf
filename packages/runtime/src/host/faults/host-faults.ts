import type { Address } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import type { HostFault, MemberFault } from './host-fault.js'
import { LinkFaults, type LinkFaultsOptions } from './link-faults.js'

/** The faults that one host knows: of links, and of members, be they here or not. */
export class HostFaults {
  readonly links: LinkFaults
  readonly #cells: () => readonly ActorCell[]
  readonly #ofMembers = new Map<number, MemberFault>()

  /** `cells`: the incarnations that are here now. */
  constructor(options: LinkFaultsOptions, cells: () => readonly ActorCell[]) {
    this.links = new LinkFaults(options)
    this.#cells = cells
  }

  apply(fault: HostFault): void {
    if (fault.scope === 'link') return this.links.apply(fault)
    this.#ofMembers.set(fault.id, fault)
    for (const { address, faults } of this.#cells()) if (address === fault.address) faults.apply(fault)
  }

  heal(id: number): void {
    this.links.heal(id)
    if (this.#ofMembers.delete(id)) for (const { faults } of this.#cells()) faults.heal(id)
  }

  /** A new incarnation has what is wrong with the member. */
  adopt(cell: ActorCell): void {
    for (const fault of this.#ofMembers.values()) if (fault.address === cell.address) cell.faults.apply(fault)
  }

  /** An incarnation is gone, and what was on its way to it. */
  forget(address: Address): void {
    this.links.forget(address)
  }
}
