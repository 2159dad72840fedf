import { clusterAddress, isClientAddress, type Address, type MessageKind } from '@shardlab/actor'
import { clientsAddress } from './host-fault.js'

/** To faults of links all clients are one. */
export function linkName(address: Address): Address {
  return isClientAddress(address) ? clientsAddress : address
}

/** Who a member is to link faults when it sends or gets a message of that kind; null: the API itself. */
export function linkEnd(address: Address, kind: MessageKind): Address | null {
  if (address !== clusterAddress) return linkName(address)
  return isOfClients(kind) ? clientsAddress : null
}

/** What clients send where they have no sockets. */
function isOfClients(kind: MessageKind): boolean {
  return kind === 'client.command' || kind === 'client.disconnected'
}
