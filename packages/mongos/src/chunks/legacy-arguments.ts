/**
 * Arguments of commands without a generated parser. Their errors have no code. Server:
 * field_parser.h.
 */
import type { CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  documentsOf,
  FieldIterator,
  isEmptyDocument,
  noCode,
  type RawValue,
} from '@shardlab/bson'
import { formatField } from '@shardlab/query'

export function refusal(message: string): CommandError {
  return new CommandError(noCode, message)
}

/**
 * Null: absent or empty.
 * @throws CommandError without code for another type
 */
export function optionalDocument(args: CommandArguments, name: string): Uint8Array | null {
  const value = args.value(name)
  if (value === undefined) return null
  if (value.type !== BsonType.object) throw wrongType(name, 'object', value)
  const document = value.slice()
  return isEmptyDocument(document) ? null : document
}

/**
 * Empty if absent.
 * @throws CommandError without code for another type
 */
export function optionalArray(args: CommandArguments, name: string): RawValue[] {
  const value = args.value(name)
  if (value === undefined) return []
  if (value.type !== BsonType.array) throw wrongType(name, 'array', value)
  const elements: RawValue[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) elements.push(it.value())
  return elements
}

/**
 * Empty if absent.
 * @throws CommandError without code for another type of the field or of an element
 */
export function optionalDocuments(args: CommandArguments, name: string): Uint8Array[] {
  const value = args.value(name)
  if (value === undefined) return []
  if (value.type !== BsonType.array) throw wrongType(name, 'vector array', value)
  optionalArray(args, name).forEach((element, i) => {
    if (element.type !== BsonType.object)
      throw refusal(
        `error parsing element ${i} of field ${name} :: caused by :: wrong type for '${i}' field, expected object, found ${formatField(String(i), element)}`,
      )
  })
  return documentsOf(value)
}

function wrongType(name: string, expected: string, found: RawValue): CommandError {
  return refusal(`wrong type for '${name}' field, expected ${expected}, found ${formatField(name, found)}`)
}
