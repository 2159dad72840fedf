import type { DocumentWriter } from '@shardlab/bson'

/** A whole number as the server's appendNumber writes it: an int32 where it fits, an int64 elsewhere. */
export function writeNumber(writer: DocumentWriter, name: string, value: number): DocumentWriter {
  return value >= -0x8000_0000 && value <= 0x7fff_ffff ? writer.int32(name, value) : writer.int64(name, value)
}
