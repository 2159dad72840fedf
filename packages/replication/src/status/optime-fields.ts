import type { DocumentWriter } from '@shardlab/bson'
import type { OpTime } from '../optime.js'

/** `{ ts, t }`. */
export function writeOpTime(writer: DocumentWriter, name: string, { ts, term }: OpTime): void {
  writer.startDocument(name).timestamp('ts', ts[0], ts[1]).int64('t', term).end()
}

/** The seconds of its timestamp, as a date. */
export function writeOpTimeDate(writer: DocumentWriter, name: string, { ts }: OpTime): void {
  writer.date(name, ts[0] * 1000)
}
