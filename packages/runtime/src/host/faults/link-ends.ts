import { clusterAddress, isClientAddress, type Address, type MessageKind } from '@shardlab/actor'
import { clientsAddress } from './host-fault.js'

/** The name of an address in link faults, where all clients are one. */
export function linkName(address: Address): Address {
  return isClientAddress(address) ? clientsAddress : address
}

/**
 * The name of the sender or receiver of a message of that kind; null: the API itself, which link
 * faults skip.
 */
export function linkEnd(address: Address, kind: MessageKind): Address | null {
  if (address !== clusterAddress) return linkName(address)
  return isOfClients(kind) ? clientsAddress : null
}

/** Whether the API sends messages of that kind for a client, in worlds without sockets. */
function isOfClients(kind: MessageKind): boolean {
  return kind === 'client.command' || kind === 'client.disconnected'
}
