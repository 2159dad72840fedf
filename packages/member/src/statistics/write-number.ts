import type { DocumentWriter } from '@shardlab/bson'

/** An int32 where it fits, else an int64, as the server's appendNumber. */
export function writeNumber(writer: DocumentWriter, name: string, value: number): DocumentWriter {
  return value >= -0x8000_0000 && value <= 0x7fff_ffff ? writer.int32(name, value) : writer.int64(name, value)
}
