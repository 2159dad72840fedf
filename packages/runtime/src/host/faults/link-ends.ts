import { clusterAddress, isClientAddress, type Address, type MessageKind } from '@shardlab/actor'
import { clientsAddress } from './host-fault.js'

export function linkName(address: Address): Address {
  return isClientAddress(address) ? clientsAddress : address
}

/** null: the API itself, which link faults skip. */
export function linkEnd(address: Address, kind: MessageKind): Address | null {
  if (address !== clusterAddress) return linkName(address)
  return isOfClients(kind) ? clientsAddress : null
}

/** The API sends these for clients, in worlds without sockets. */
function isOfClients(kind: MessageKind): boolean {
  return kind === 'client.command' || kind === 'client.disconnected'
}
