import type { Address } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import type { HostFault, MemberFault } from './host-fault.js'
import { LinkFaults, type LinkFaultsOptions } from './link-faults.js'

/** Member faults may concern members on other hosts. */
export class HostFaults {
  readonly links: LinkFaults
  readonly #cells: () => readonly ActorCell[]
  readonly #ofMembers = new Map<number, MemberFault>()

  /** @param cells returns the present incarnations on this host */
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

  /** Applies the member's faults to a new incarnation. */
  adopt(cell: ActorCell): void {
    for (const fault of this.#ofMembers.values()) if (fault.address === cell.address) cell.faults.apply(fault)
  }

  dropMessagesTo(address: Address): void {
    this.links.dropQueuedTo(address)
  }
}
