import { RefusedOperationError } from '../core/errors.js'
import type { Fields } from '../core/port.js'
import { overlaps, setAt, type UniqueSpec } from '../core/specs/spec.js'
import { isDocument } from '../core/values.js'

/** undefined as a value: the update removes the field. */
export interface WrittenFields {
  readonly touched: readonly UniqueSpec[]
  readonly values: ReadonlyMap<string, unknown>
}

/**
 * The result of `$set` and `$unset` of whole values is known; everything else that touches a unique
 * field is refused. Manual: reference/operator/update
 * @throws RefusedOperationError with the reason
 */
export function writtenFields(specs: readonly UniqueSpec[], update: Fields | readonly Fields[]): WrittenFields {
  const fields = [...new Set(specs.flatMap((spec) => spec.fields))]
  if (Array.isArray(update)) {
    for (const stage of update as readonly Fields[]) checkStage(fields, stage)
    return { touched: [], values: new Map() }
  }
  const values = new Map<string, unknown>()
  for (const [operator, operand] of Object.entries(update as Fields)) {
    if (!isDocument(operand)) continue
    for (const [path, value] of Object.entries(operand)) {
      for (const each of operator === '$rename' ? [path, String(value)] : [path]) {
        for (const field of fields.filter((name) => overlaps(name, withoutPositions(each)))) {
          values.set(field, valueAfter(field, operator, each, value))
        }
      }
    }
  }
  return { touched: specs.filter((spec) => spec.fields.some((field) => values.has(field))), values }
}

/** Unique fields only. */
export function documentAfter(before: Fields, { touched, values }: WrittenFields): Fields {
  const after: Fields = {}
  for (const field of new Set(touched.flatMap((spec) => spec.fields))) {
    const value = values.has(field) ? values.get(field) : valueOf(before, field)
    if (value !== undefined) setAt(after, field, value)
  }
  return after
}

function valueAfter(field: string, operator: string, path: string, value: unknown): unknown {
  if (operator !== '$set' && operator !== '$unset') {
    throw new RefusedOperationError(
      `${operator} of ${path} is not allowed, because the new value of the unique field ${field} is unknown before the write: read the document and $set the value`,
    )
  }
  // A path at or above the field contains its whole value, a path below it only a part.
  if (path !== field && !field.startsWith(`${path}.`)) {
    throw new RefusedOperationError(
      `${operator} of ${path} is not allowed, because it changes a part of the unique field ${field}: $set the whole value of ${field}`,
    )
  }
  if (operator === '$unset') return undefined
  return path === field ? value : valueOf({ [path]: value }, field, path)
}

function checkStage(fields: readonly string[], stage: Fields): void {
  const refuse = (what: string): never => {
    throw new RefusedOperationError(
      `${what} in an update with a pipeline is not allowed, because its effect on unique fields is unknown before the write: read the document and $set the value`,
    )
  }
  for (const [name, operand] of Object.entries(stage)) {
    if (name !== '$set' && name !== '$addFields' && name !== '$unset') refuse(name)
    const paths = isDocument(operand) ? Object.keys(operand) : [operand].flat().map(String)
    for (const path of paths) if (fields.some((field) => overlaps(field, path))) refuse(`${name} of ${path}`)
  }
}

/** `contacts.$[].email` is about `contacts.email` in every element. */
const withoutPositions = (path: string): string =>
  path
    .split('.')
    .filter((part) => !part.startsWith('$') && !/^\d+$/.test(part))
    .join('.')

function valueOf(document: Fields, field: string, under = ''): unknown {
  let value: unknown = under === '' ? document : document[under]
  const rest = under === '' ? field : field.slice(under.length + 1)
  for (const part of rest.split('.')) value = isDocument(value) ? value[part] : undefined
  return value
}
