/** Server: idl_parser.cpp. */
import { BsonType, CommandError, typeName, type RawValue } from '@shardlab/bson'

/**
 * `number`: any numeric type (a safe int); `bool`: bool or number; `strictBool`: a bool only;
 * `any`: not checked; `string|object`: either of the two; `pipeline`: an array, with its own
 * error; `absent`: unknown, although it is a generic argument. A trailing `!` marks a required
 * argument.
 */
export type FieldType =
  | 'object'
  | 'array'
  | 'string'
  | 'number'
  | 'bool'
  | 'strictBool'
  | 'any'
  | 'binary'
  | 'timestamp'
  | 'int64'
  | 'string|object'
  | 'array|object'
  | 'pipeline'
  | 'absent'
export type FieldSpecs = Readonly<Record<string, FieldType | `${FieldType}!`>>

/**
 * Checks a field of a command as a handwritten parser did, null and undefined included.
 * @throws CommandError for a wrong type
 */
export type FieldCheck = (command: string, name: string, wanted: FieldType, value: RawValue, body: Uint8Array) => void

/** How a handwritten parser answered. Its checks run once for all commands of the same shape. */
export interface HandwrittenParser {
  readonly field: FieldCheck
  /** The command's own field. Absent: checked where it is read. */
  readonly target?: (value: RawValue, body: Uint8Array) => void
  /** Absent: as generated parsers do. */
  readonly missing?: (name: string, body: Uint8Array) => CommandError
  /** Runs after all fields. */
  readonly whole?: (body: Uint8Array) => void
}

/** @throws CommandError 14 TypeMismatch */
export function checkType(command: string, name: string, wanted: FieldType, value: RawValue): void {
  switch (wanted) {
    case 'any':
      return
    case 'object':
      if (value.type === BsonType.object) return
      break
    case 'array':
      if (value.type === BsonType.array) return
      break
    case 'string':
      if (value.type === BsonType.string) return
      break
    case 'number':
      if (value.isNumber()) return
      throw wrongType(command, name, value.type, "'long, int, decimal, double'", true)
    case 'bool':
      if (value.type === BsonType.bool || value.isNumber()) return
      throw wrongType(command, name, value.type, "'bool, long, int, decimal, double'", true)
    case 'strictBool':
      if (value.type === BsonType.bool) return
      throw wrongType(command, name, value.type, 'bool')
    case 'binary':
      if (value.type === BsonType.binary) return
      throw wrongType(command, name, value.type, 'binData')
    case 'timestamp':
      if (value.type === BsonType.timestamp) return
      break
    case 'int64':
      if (value.type === BsonType.int64) return
      throw wrongType(command, name, value.type, 'long')
    case 'string|object':
      if (value.type === BsonType.string || value.type === BsonType.object) return
      throw wrongType(command, name, value.type, "'string, object'", true)
    case 'array|object':
      if (value.type === BsonType.array || value.type === BsonType.object) return
      throw wrongType(command, name, value.type, "'array, object'", true)
    case 'pipeline':
      if (value.type === BsonType.array) return
      throw new CommandError('TypeMismatch', "'pipeline' option must be specified as an array")
    default:
      throw new Error(`no such argument type: ${String(wanted)}`)
  }
  throw wrongType(command, name, value.type, wanted)
}

/** @param wanted a type; with `list` several types in quotation marks */
export function wrongType(command: string, name: string, actual: number, wanted: string, list = false): CommandError {
  return new CommandError(
    'TypeMismatch',
    list
      ? `BSON field '${command}.${name}' is the wrong type '${typeName(actual)}', expected types '[${wanted.slice(1, -1)}]'`
      : `BSON field '${command}.${name}' is the wrong type '${typeName(actual)}', expected type '${wanted}'`,
  )
}
