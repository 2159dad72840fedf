/** Server: fixDocumentForInsert in insert.cpp. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  nestsDeeperThan,
  readUint32,
  maxStoredDepth,
  type RawValue,
} from '@shardlab/bson'
import { documentBytesMax } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'

const dollarSign = 0x24

export interface FixOptions {
  readonly keepsEmptyTimestamps?: boolean
}

/**
 * Returns the document as it is stored: `_id` first, generated if it is missing, and empty
 * timestamps of the top level replaced by the time. Returns the same bytes if nothing changes.
 * @throws CommandError 2 BadValue, 15 Overflow for a document that is nested too deeply, 52
 *   DollarPrefixedFieldName
 */
export function fixDocumentForInsert(
  node: NodeHost,
  document: Uint8Array,
  { keepsEmptyTimestamps = false }: FixOptions = {},
): Uint8Array {
  if (document.length > documentBytesMax) {
    throw new CommandError(
      'BadValue',
      `object to insert too large. size in bytes: ${document.length}, max size: ${documentBytesMax}`,
    )
  }
  if (nestsDeeperThan(document, maxStoredDepth))
    throw new CommandError('Overflow', `cannot insert document because it exceeds ${maxStoredDepth} levels of nesting`)
  let idAt = -1
  let position = 0
  let hasEmptyTimestamp = false
  const { dollarFieldsCanBeStored } = node.behaviours
  for (const it = new FieldIterator(document); it.next(); position++) {
    if (!dollarFieldsCanBeStored && document[it.nameStart] === dollarSign)
      throw new CommandError('BadValue', `Document can't have $ prefixed field names: ${it.name()}`)
    const isId =
      it.valueStart - it.nameStart === 4 &&
      document[it.nameStart] === 0x5f &&
      document[it.nameStart + 1] === 0x69 &&
      document[it.nameStart + 2] === 0x64
    if (isId) {
      if (idAt >= 0) throw new CommandError('BadValue', "can't have multiple _id fields in one document")
      idAt = position
      checkId(it.value())
    } else if (
      it.type === BsonType.timestamp &&
      !keepsEmptyTimestamps &&
      readUint32(document, it.valueStart) === 0 &&
      readUint32(document, it.valueStart + 4) === 0
    ) {
      hasEmptyTimestamp = true
    }
  }
  if (idAt === 0 && !hasEmptyTimestamp) return document
  const writer = new DocumentWriter(document.length + 32)
  if (idAt >= 0) writer.value('_id', findField(document, '_id')!)
  else writer.objectId('_id', node.newObjectId())
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    if (name === '_id') continue
    if (
      hasEmptyTimestamp &&
      it.type === BsonType.timestamp &&
      readUint32(document, it.valueStart) === 0 &&
      readUint32(document, it.valueStart + 4) === 0
    ) {
      const [seconds, increment] = node.clock.tick()
      writer.timestamp(name, seconds, increment)
    } else writer.value(name, it.value())
  }
  return writer.finish()
}

/** @throws CommandError for values that `_id` cannot have */
export function checkId(id: RawValue): void {
  switch (id.type) {
    case BsonType.array:
      throw new CommandError('BadValue', "can't use an array for _id")
    case BsonType.undefined:
      throw new CommandError('BadValue', "can't use a undefined for _id")
    case BsonType.regex:
      throw new CommandError('BadValue', "can't use a regex for _id")
    case BsonType.object: {
      const first = new FieldIterator(id.bytes, id.start)
      if (first.next() && first.name().startsWith('$')) {
        throw new CommandError(
          'DollarPrefixedFieldName',
          `_id fields may not contain '$'-prefixed fields: ${first.name()} is not valid for storage.`,
        )
      }
    }
  }
}
