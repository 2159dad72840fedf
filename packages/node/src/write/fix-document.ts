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
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { documentBytesMax } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { NodeHost } from '../host/node-host.js'

const dollarSign = 0x24

export interface FixOptions {
  readonly keepsEmptyTimestamps?: boolean
}

/**
 * Returns the document as it is stored: `_id` first, generated if it is missing, and empty
 * timestamps of the top level replaced by the time. Returns the same bytes if nothing changes.
 * @throws CommandError 2 BadValue, 15 Overflow for a document that is nested too deeply, 52
 *   DollarPrefixedFieldName; until 3.4, 57 DottedFieldName
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
      checkId(it.value(), node.behaviours)
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
function checkId(id: RawValue, { invalidIdHasOwnCode, language }: Behaviours): void {
  switch (id.type) {
    case BsonType.array:
    case BsonType.undefined:
    case BsonType.regex: {
      const type = typeName(id.type)
      throw invalidIdHasOwnCode
        ? new CommandError('InvalidIdField', `The '_id' value cannot be of type ${type}`)
        : new CommandError('BadValue', `can't use ${id.type === BsonType.array ? 'an' : 'a'} ${type} for _id`)
    }
    case BsonType.object: {
      const name = firstInvalidField(id.bytes, id.start, language.has('form', 'dottedNames'))
      if (name?.startsWith('$') === false)
        throw new CommandError('DottedFieldName', `${name} is not valid for storage.`)
      if (name !== null)
        throw new CommandError(
          'DollarPrefixedFieldName',
          `${invalidIdHasOwnCode ? "_id fields may not contain '$'-prefixed fields: " : ''}${name} is not valid for storage.`,
        )
    }
  }
}

const dbRefFields: ReadonlySet<string> = new Set(['$ref', '$id', '$db'])

/** At any depth; null: none. Server: BSONObj::storageValidEmbedded. */
function firstInvalidField(bytes: Uint8Array, start: number, dotsAllowed: boolean): string | null {
  for (const it = new FieldIterator(bytes, start); it.next();) {
    if (bytes[it.nameStart] === dollarSign && !dbRefFields.has(it.name())) return it.name()
    if (!dotsAllowed && it.name().includes('.')) return it.name()
    if (it.type !== BsonType.object && it.type !== BsonType.array) continue
    const inner = firstInvalidField(bytes, it.valueStart, dotsAllowed)
    if (inner !== null) return inner
  }
  return null
}
