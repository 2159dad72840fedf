import { gossipedKinds } from '../catalogue/gossiped-kinds.js'
import { catalogue, type Exchange, type MessageKind } from '../catalogue/index.js'
import { hotKinds } from './hot-kinds.js'
import { packPayload, refusalOf } from './packed-payload.js'
import type { ValueWriter } from './value-writer.js'

export type RecordMaker = (payload: readonly unknown[]) => object

/** Writes the payload. @returns the index of the first field whose value is refused; -1: none */
export type RecordWriter = (writer: ValueWriter, record: object) => number

export interface KindShape {
  readonly kind: MessageKind
  readonly index: number
  /** Whether the payload is written and read by hand. */
  readonly isHot: boolean
  /** A record without `clusterTime` is sent with null. */
  readonly isGossiped: boolean
  readonly requestFields: readonly string[]
  readonly replyFields: readonly string[]
  readonly toRequest: RecordMaker
  readonly toReply: RecordMaker
  readonly writeRequest: RecordWriter
  readonly writeReply: RecordWriter
}

/**
 * Generates a function that returns one object literal. That is ten times faster than setting the
 * fields in a loop, and gives all records of a kind the same hidden class. The names come from our
 * own catalogue and are quoted.
 */
function recordMaker(fields: readonly string[]): RecordMaker {
  const entries = fields.map((field, i) => `${JSON.stringify(field)}: payload[${i}]`)
  // oxlint-disable-next-line typescript/no-implied-eval -- no text from outside comes here
  return new Function('payload', `return { ${entries.join(', ')} }`) as RecordMaker
}

/** The inverse of {@link recordMaker}; a loop over the names would look each of them up again. */
function recordWriter(fields: readonly string[]): RecordWriter {
  const steps = fields.map((field, i) => `if (writer.value(record[${JSON.stringify(field)}]) !== null) return ${i}`)
  const body = [`writer.arrayHeader(${fields.length})`, ...steps, 'return -1'].join('\n')
  // oxlint-disable-next-line typescript/no-implied-eval -- no text from outside comes here
  return new Function('writer', 'record', body) as RecordWriter
}

function packedRecordWriter(fields: readonly string[]): RecordWriter {
  return (writer, record) => {
    const payload = fields.map((field) => (record as Readonly<Record<string, unknown>>)[field])
    const refused = payload.findIndex((value) => refusalOf(value) !== null)
    if (refused < 0) writer.bytes(packPayload(payload))
    return refused
  }
}

function writerFor(kind: string, fields: readonly string[]): RecordWriter {
  return hotKinds.has(kind) ? recordWriter(fields) : packedRecordWriter(fields)
}

/** The payload of a gossiped kind ends with the cluster time. */
function payloadOf(kind: string, declared: readonly string[]): { fields: readonly string[]; write: RecordWriter } {
  const fields = isGossiped(kind) ? [...declared, 'clusterTime'] : declared
  return { fields, write: writerFor(kind, fields) }
}

const isGossiped = (kind: string): boolean => (gossipedKinds as ReadonlySet<string>).has(kind)

const shapes: KindShape[] = Object.entries(catalogue as Record<string, Exchange<unknown, unknown>>).map(
  ([kind, exchange], index) => {
    const request = payloadOf(kind, exchange.requestFields)
    const reply = payloadOf(kind, exchange.replyFields)
    return {
      kind: kind as MessageKind,
      index,
      isHot: hotKinds.has(kind),
      isGossiped: isGossiped(kind),
      requestFields: request.fields,
      replyFields: reply.fields,
      toRequest: recordMaker(request.fields),
      toReply: recordMaker(reply.fields),
      writeRequest: request.write,
      writeReply: reply.write,
    }
  },
)

const byKind = new Map<string, KindShape>(shapes.map((shape) => [shape.kind, shape]))

/** @throws Error for a name that the catalogue does not have */
export function kindShape(kind: string): KindShape {
  const shape = byKind.get(kind)
  if (shape === undefined) throw new Error(`the catalogue has no message kind ${kind}`)
  return shape
}

/** @throws Error for a number that the catalogue does not have */
export function kindShapeAt(index: number): KindShape {
  const shape = shapes[index]
  if (shape === undefined) throw new Error(`the catalogue has no message kind number ${index}`)
  return shape
}
