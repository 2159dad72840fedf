import type { MessageTuple } from './packet.js'
import { ValueReader } from './value-reader.js'

/**
 * The messages of a packet; {@link KindShape} makes records of their payloads. Byte arrays in them are views on the
 * packet: never write to them, and copy what is to outlive the handler, or the whole packet stays in memory.
 */
export function readPacket(packet: Uint8Array): readonly MessageTuple[] {
  return new ValueReader(packet).value() as MessageTuple[]
}
