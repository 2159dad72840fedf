import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findPath,
  int64Value,
  nullValue,
  readInt32,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { checkFieldPath } from '../../expressions/field-path.js'
import { newestLanguage } from '../../../language/language.js'
import { typeNameIn } from '../../../values/type-name.js'
import type { CompiledStage, StageContext, StageOperator } from '../stage.js'

/** Longer arrays are unwound in steps. */
const unwoundAtOnce = 16

function compileUnwind(argument: RawValue, { evaluation }: StageContext): CompiledStage {
  const { language = newestLanguage } = evaluation
  if (argument.type !== BsonType.string && !language.has('form', 'unwindDocument'))
    throw new CommandError(15981, 'the $unwind field path must be specified as a string')
  const { names, preserve, indexNames } = parse(argument)
  const path = names.join('.')
  const withIndex = (result: Uint8Array, index: RawValue) =>
    indexNames === null ? result : setAt(result, indexNames, index)

  /** For a single value instead of an array. */
  const alone = language.unwindNeedsArray
    ? (_document: Uint8Array, value: RawValue): never => {
        throw new CommandError(
          15978,
          `Value at end of $unwind field path '$${path}' must be an Array, but is a ${typeNameIn(value.type, language)}`,
        )
      }
    : (document: Uint8Array) => withIndex(document, nullValue)

  function* unwound(document: Uint8Array, elements: readonly RawValue[]): Generator<Uint8Array, void> {
    for (const [i, element] of elements.entries())
      yield withIndex(setAt(document, names, element), int64Value(BigInt(i)))
  }

  return {
    name: '$unwind',
    open(next, rest) {
      /** Come while a long array is unwound. */
      const waiting: Uint8Array[] = []
      let isUnwinding = false
      let inputEnded = false
      const take = (document: Uint8Array): void => {
        const value = findPath(document, path)
        if (value?.type === BsonType.array) {
          const elements = elementsOf(value)
          if (elements.length > unwoundAtOnce) {
            isUnwinding = true
            rest.emit(next, unwound(document, elements), resume)
          } else if (elements.length > 0) for (const result of unwound(document, elements)) next.push(result)
          else if (preserve) next.push(withIndex(setAt(document, names, undefined), nullValue))
        } else if (value !== undefined && !value.isNullish()) next.push(alone(document, value))
        else if (preserve) next.push(withIndex(document, nullValue))
      }
      const resume = (): void => {
        isUnwinding = false
        while (!isUnwinding && waiting.length > 0) take(waiting.shift()!)
        if (!isUnwinding && inputEnded) next.end()
      }
      return {
        push(document) {
          if (isUnwinding) waiting.push(document)
          else take(document)
        },
        end() {
          inputEnded = true
          if (!isUnwinding) next.end()
        },
        get satisfied() {
          return next.satisfied
        },
      }
    },
  }
}

function parse(argument: RawValue): { names: string[]; preserve: boolean; indexNames: string[] | null } {
  let path = argument
  let preserve = false
  let indexNames: string[] | null = null
  if (argument.type === BsonType.object) {
    let given: RawValue | undefined
    for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
      const value = it.value()
      switch (it.name()) {
        case 'path':
          given = value
          break
        case 'preserveNullAndEmptyArrays':
          if (value.type !== BsonType.bool)
            throw new CommandError(
              28809,
              `expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got ${typeName(value.type)}`,
            )
          preserve = value.asBool()
          break
        case 'includeArrayIndex': {
          if (value.type !== BsonType.string || value.asString() === '')
            throw new CommandError(
              28810,
              `expected a non-empty string for the includeArrayIndex  option to $unwind stage, got ${typeName(value.type)}`,
            )
          if (value.asString().startsWith('$'))
            throw new CommandError(
              28822,
              `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${value.asString()}`,
            )
          indexNames = checkFieldPath(value.asString())
          break
        }
        default:
          throw new CommandError(28811, `unrecognized option to $unwind stage: ${it.name()}`)
      }
    }
    if (given === undefined) throw new CommandError(28812, 'no path specified to $unwind stage')
    path = given
  }
  if (path.type !== BsonType.string) {
    throw argument.type === BsonType.object
      ? new CommandError(28808, `expected a string as the path for $unwind stage, got ${typeName(path.type)}`)
      : new CommandError(
          15981,
          `expected either a string or an object as specification for $unwind stage, got ${typeName(path.type)}`,
        )
  }
  const text = path.asString()
  if (!text.startsWith('$'))
    throw new CommandError(28818, `path option to $unwind stage should be prefixed with a '$': ${text}`)
  return { names: checkFieldPath(text.slice(1)), preserve, indexNames }
}

/** Undefined removes the field. Missing objects on the path are created. */
export function setAt(
  document: Uint8Array,
  names: readonly string[],
  value: RawValue | undefined,
  start = 0,
  depth = 0,
): Uint8Array {
  // The buffer size leaves out the replaced value: otherwise unwinding an array of a million
  // elements would allocate a buffer of the array's size for each element.
  const replaced = findPath(document, depth === 0 ? names.join('.') : names.slice(depth).join('.'), start)
  const sizeOf = (part: RawValue | undefined) => (part === undefined ? 0 : part.end - part.start)
  const writer = new DocumentWriter(readInt32(document, start) - sizeOf(replaced) + sizeOf(value) + names.length * 16)
  const name = names[depth]!
  const isLast = depth === names.length - 1
  let found = false
  for (const it = new FieldIterator(document, start); it.next();) {
    const field = it.name()
    if (field !== name || found) {
      writer.value(field, it.value())
      continue
    }
    found = true
    if (!isLast)
      writer.document(
        field,
        it.type === BsonType.object
          ? setAt(document, names, value, it.valueStart, depth + 1)
          : setAt(emptyObject, names, value, 0, depth + 1),
      )
    else if (value !== undefined) writer.value(field, value)
  }
  if (!found && value !== undefined) {
    if (isLast) writer.value(name, value)
    else writer.document(name, setAt(emptyObject, names, value, 0, depth + 1))
  }
  return writer.finish()
}

const emptyObject = new Uint8Array([5, 0, 0, 0, 0])

export const unwindStage: StageOperator = {
  name: '$unwind',
  manualPage: 'aggregation/unwind',
  status: 'complete',
  sharded: 'shards',
  compile: compileUnwind,
}
