import { BsonType, CommandError, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { arrayValue } from '../../values/build.js'
import type { Expression, Frame } from './expression.js'

export function fieldPathExpression(start: (frame: Frame) => RawValue | undefined, path: string): Expression {
  if (path === '') return { evaluate: start, constant: null }
  const names = checkFieldPath(path)
  if (names.length === 1) {
    const name = names[0]!
    return {
      constant: null,
      evaluate(frame) {
        const from = start(frame)
        if (from === undefined) return undefined
        return from.type === BsonType.object ? findField(from.bytes, name, from.start) : valueAt(from, names, 0)
      },
    }
  }
  return {
    constant: null,
    evaluate(frame) {
      const from = start(frame)
      return from === undefined ? undefined : valueAt(from, names, 0)
    },
  }
}

/** Arrays give an array of their elements' values; elements that are not documents are left out. */
export function valueAt(value: RawValue, names: readonly string[], next: number): RawValue | undefined {
  let current: RawValue | undefined = value
  for (let i = next; i < names.length; i++) {
    if (current.type === BsonType.array) {
      const results: RawValue[] = []
      for (const it = new FieldIterator(current.bytes, current.start); it.next();) {
        if (it.type !== BsonType.object) continue
        const result = valueAt(it.value(), names, i)
        if (result !== undefined) results.push(result)
      }
      return arrayValue(results)
    }
    if (current.type !== BsonType.object) return undefined
    current = findField(current.bytes, names[i]!, current.start)
    if (current === undefined) return undefined
  }
  return current
}

/** Arrays are not traversed. */
export function nestedField(value: RawValue, names: readonly string[]): RawValue | undefined {
  let current: RawValue | undefined = value
  for (const name of names) {
    if (current?.type !== BsonType.object) return undefined
    current = findField(current.bytes, name, current.start)
  }
  return current
}

/** Server: `BSONDepth::kDefaultMaxAllowableDepth`. */
const longestPath = 200

/** @throws CommandError 15 Overflow for a path with more than 200 parts */
export function checkPathLength(names: readonly string[]): void {
  if (names.length > longestPath) throw new CommandError('Overflow', 'FieldPath is too long')
}

/**
 * @throws CommandError for too many parts, empty parts, trailing dots, parts that start with $ or
 *   contain NUL, as the server's FieldPath
 */
export function checkFieldPath(path: string): string[] {
  if (path === '') throw new CommandError(40352, 'FieldPath cannot be constructed with empty string')
  if (path.endsWith('.')) throw new CommandError(40353, "FieldPath must not end with a '.'.")
  const names = path.split('.')
  checkPathLength(names)
  for (const name of names) {
    if (name === '') throw new CommandError(15998, 'FieldPath field names may not be empty strings.')
    if (name.startsWith('$') && name !== '$id' && name !== '$ref' && name !== '$db')
      throw new CommandError(
        16410,
        `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
      )
    if (name.includes('\0')) throw new CommandError(16411, "FieldPath field names may not contain '\\0'.")
  }
  return names
}
