/**
 * How handwritten parsers checked types, by which numbers are no booleans and null is a value like
 * any other. Server: query_request.cpp, aggregation_request.cpp, parsed_distinct.cpp.
 */
import { checkType, type FieldCheck, type FieldType } from '@shardlab/actor'
import { BsonType, CommandError, typeName, type RawValue } from '@shardlab/bson'
import { formatDocument, formatValue, type Language, type WrongTypeAnswer } from '@shardlab/query'

const exactTypes: Partial<Record<FieldType, number>> = {
  array: BsonType.array,
  bool: BsonType.bool,
  object: BsonType.object,
  string: BsonType.string,
}

const articles: Partial<Record<FieldType, string>> = { bool: 'a boolean', object: 'an object', string: 'a string' }

const checks: Readonly<Record<WrongTypeAnswer, FieldCheck>> = {
  quoted(command, name, wanted, value, body) {
    const expected = wanted === 'number' ? 'numeric' : `of BSON type ${wanted}`
    const text = (quoted: string) =>
      new CommandError('FailedToParse', `Failed to parse: ${quoted}. '${name}' field must be ${expected}.`)
    if (wanted !== 'number') checkExactly(command, name, wanted, value, () => text(`${name}: ${formatValue(value)}`))
    else if (!value.isNumber()) throw text(formatDocument(body))
  },
  article(command, name, wanted, value) {
    const message = () => `${name} must be ${articles[wanted]}, not a ${typeName(value.type)}`
    checkExactly(command, name, wanted, value, () => new CommandError('TypeMismatch', message()))
  },
  found(command, name, wanted, value) {
    if (name === 'query' && value.type === BsonType.null) return
    const types = name === 'query' ? 'object or null' : wanted
    const message = () => `"${name}" had the wrong type. Expected ${types}, found ${typeName(value.type)}`
    checkExactly(command, name, wanted, value, () => new CommandError('TypeMismatch', message()))
  },
}

/** undefined: as generated parsers do */
export function fieldCheckIn({ wrongTypes }: Language, command: string): FieldCheck | undefined {
  const answer = wrongTypes[command]
  return answer === undefined ? undefined : checks[answer]
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
