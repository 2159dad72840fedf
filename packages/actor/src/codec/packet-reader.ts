import { Unpackr } from 'msgpackr/unpack'
import type { MessageTuple } from './packet.js'

// `useRecords: false` is what makes a packet readable without anything that came before it.
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, copyBuffers: false })

/**
 * The messages of a packet; {@link KindShape} makes records of their payloads. Byte arrays in them are views on the
 * packet: never write to them, and copy what is to outlive the handler, or the whole packet stays in memory.
 */
export function readPacket(packet: Uint8Array): readonly MessageTuple[] {
  return unpackr.unpack(packet) as MessageTuple[]
}
