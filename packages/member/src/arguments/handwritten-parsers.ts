/**
 * How handwritten parsers checked arguments: numbers are no booleans, null is a value like any
 * other, and texts show the whole command. Server: query_request.cpp, aggregation_request.cpp,
 * parsed_distinct.cpp, cursor_request.cpp, getmore_request.cpp, killcursors_request.cpp.
 */
import { checkType, type FieldType, type HandwrittenParser } from '@shardlab/actor'
import { BsonType, CommandError, elementsOf, fieldsOf, findField, typeName, type RawValue } from '@shardlab/bson'
import { formatDocument, formatField, formatValue, type HandwrittenParserName, type Language } from '@shardlab/query'

const exactTypes: Partial<Record<FieldType, number>> = {
  array: BsonType.array,
  bool: BsonType.bool,
  object: BsonType.object,
  string: BsonType.string,
}

const articles: Partial<Record<FieldType, string>> = { bool: 'a boolean', object: 'an object', string: 'a string' }

const asked = (error: 'BadValue' | 'FailedToParse' | 'TypeMismatch', what: string, body: Uint8Array) =>
  new CommandError(error, `${what} in: ${formatDocument(body)}`)

const parsers: Readonly<Record<HandwrittenParserName, HandwrittenParser>> = {
  find: {
    field(command, name, wanted, value, body) {
      const expected = wanted === 'number' ? 'numeric' : `of BSON type ${wanted}`
      const text = (quoted: string) =>
        new CommandError('FailedToParse', `Failed to parse: ${quoted}. '${name}' field must be ${expected}.`)
      if (wanted !== 'number') checkExactly(command, name, wanted, value, () => text(`${name}: ${formatValue(value)}`))
      else if (!value.isNumber()) throw text(formatDocument(body))
    },
    whole(body) {
      for (const name of ['skip', 'limit', 'batchSize']) {
        const value = Math.trunc(findField(body, name)?.asNumber() ?? 0)
        if (value < 0)
          throw new CommandError(
            'BadValue',
            `${name[0]!.toUpperCase()}${name.slice(1)} value must be non-negative, but received: ${value}`,
          )
      }
    },
  },
  aggregate: {
    field(command, name, wanted, value) {
      if (name === 'cursor') return checkCursor(value)
      const message = () => `${name} must be ${articles[wanted]}, not a ${typeName(value.type)}`
      checkExactly(command, name, wanted, value, () => new CommandError('TypeMismatch', message()))
    },
  },
  list: {
    field(command, name, wanted, value) {
      if (name === 'cursor') checkCursor(value)
      else if (!value.isNullish()) checkType(command, name, wanted, value)
    },
  },
  distinct: {
    field(command, name, wanted, value) {
      if (name === 'query' && value.type === BsonType.null) return
      const types = name === 'query' ? 'object or null' : wanted
      const message = () => `"${name}" had the wrong type. Expected ${types}, found ${typeName(value.type)}`
      checkExactly(command, name, wanted, value, () => new CommandError('TypeMismatch', message()))
    },
  },
  getMore: {
    target(value, body) {
      if (value.type !== BsonType.int64) throw asked('TypeMismatch', "Field 'getMore' must be of type long", body)
    },
    field(command, name, wanted, value, body) {
      if (wanted === 'number') {
        if (!value.isNumber()) throw asked('TypeMismatch', `Field '${name}' must be a number`, body)
      } else
        checkExactly(command, name, wanted, value, () =>
          asked('TypeMismatch', `Field '${name}' must be of type ${wanted}`, body),
        )
    },
    missing: (name, body) => asked('FailedToParse', `Field '${name}' missing`, body),
  },
  killCursors: {
    target(value, body) {
      if (value.type !== BsonType.string) throw asked('FailedToParse', 'First parameter must be a string', body)
    },
    field(_command, name, _wanted, value, body) {
      if (value.type !== BsonType.array) throw notAnArray(name, body)
      const ids = elementsOf(value)
      const other = ids.findIndex(({ type }) => type !== BsonType.int64)
      if (other !== -1) {
        const shown = formatField(String(other), ids[other]!)
        throw new CommandError(
          'FailedToParse',
          `Field '${name}' contains an element that is not of type long: ${shown}`,
        )
      }
      if (ids.length === 0) throw asked('BadValue', 'Must specify at least one cursor id', body)
    },
    missing: notAnArray,
  },
}

function notAnArray(name: string, body: Uint8Array): CommandError {
  return asked('FailedToParse', `Field '${name}' must be of type array`, body)
}

/** @throws CommandError 14 TypeMismatch, 2 BadValue */
function checkCursor(value: RawValue): void {
  if (value.type !== BsonType.object)
    throw new CommandError('TypeMismatch', 'cursor field must be missing or an object')
  const cursor = value.slice()
  const batchSize = findField(cursor, 'batchSize')
  if (fieldsOf(cursor).length !== (batchSize === undefined ? 0 : 1))
    throw new CommandError('BadValue', "cursor object can't contain fields other than batchSize")
  if (batchSize === undefined) return
  if (!batchSize.isNumber()) throw new CommandError('TypeMismatch', 'cursor.batchSize must be a number')
  if (Math.trunc(batchSize.asNumber()) < 0) throw new CommandError('BadValue', 'cursor.batchSize must not be negative')
}

/** undefined: the command has a generated parser */
export function handwrittenParserIn({ handwrittenParsers }: Language, command: string): HandwrittenParser | undefined {
  const name = handwrittenParsers[command]
  return name === undefined ? undefined : parsers[name]
}

function checkExactly(
  command: string,
  name: string,
  wanted: FieldType,
  value: RawValue,
  error: () => CommandError,
): void {
  const type = exactTypes[wanted]
  if (type === undefined) {
    if (!value.isNullish()) checkType(command, name, wanted, value)
  } else if (value.type !== type) throw error()
}
