/**
 * Specifications in which a document stands for the paths below it: $addFields, and $project until
 * 4.2. Server: ProjectionSpecValidator and ProjectTypeParser in
 * pipeline/parsed_aggregation_projection.cpp; exec/add_fields_projection_executor.cpp.
 */
import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import { formatDocument, formatValue } from '../values/format.js'

export interface SpecifiedPath {
  readonly path: string
  readonly value: RawValue
}

/** @throws CommandError 40176 for paths that collide, 40177, 40180, 40181, 40183 */
export function specifiedPaths(specification: Uint8Array): SpecifiedPath[] {
  const paths: SpecifiedPath[] = []
  const add = (path: string, value: RawValue): void => {
    if (value.type === BsonType.object && isSubDocument(path, value, specification)) {
      for (const it = new FieldIterator(value.bytes, value.start); it.next();) add(`${path}.${it.name()}`, it.value())
      return
    }
    const other = paths.find(
      (earlier) => earlier.path === path || earlier.path.startsWith(`${path}.`) || path.startsWith(`${earlier.path}.`),
    )
    if (other !== undefined)
      throw new CommandError(
        40176,
        `specification contains two conflicting paths. Cannot specify both '${path}' and '${other.path}': ${formatDocument(specification)}`,
      )
    paths.push({ path, value })
  }
  for (const it = new FieldIterator(specification); it.next();) add(it.name(), it.value())
  if (paths.length === 0) throw new CommandError(40177, 'specification must have at least one field')
  return paths
}

/**
 * Whether the value is a document whose fields are paths rather than an expression.
 * @throws CommandError 40180, 40181, 40183
 */
function isSubDocument(path: string, value: RawValue, specification: Uint8Array): boolean {
  const names: string[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) names.push(it.name())
  if (names.length === 0)
    throw new CommandError(40180, `an empty object is not a valid value. Found empty object at path ${path}`)
  if (names.some((name) => name.startsWith('$'))) {
    if (names.length === 1) return false
    throw new CommandError(
      40181,
      `an expression specification must contain exactly one field, the name of the expression. Found ${names.length} fields in ${formatValue(value)}, while parsing object ${formatDocument(specification)}`,
    )
  }
  const dotted = names.find((name) => name.includes('.'))
  if (dotted !== undefined)
    throw new CommandError(
      40183,
      `cannot use dotted field name '${dotted}' in a sub object: ${formatDocument(specification)}`,
    )
  return true
}

/**
 * Checks a $project as servers from 3.4 to 4.2 do.
 * @throws CommandError 40178, 40179, 40182 for a mix of inclusion and exclusion, FailedToParse, and
 *   the errors of {@link specifiedPaths}
 */
export function checkValidatedProject(specification: Uint8Array): void {
  const bad = (code: number | 'FailedToParse', reason: string): CommandError =>
    new CommandError(code, `Bad projection specification, ${reason}: ${formatDocument(specification)}`)
  let kind: 'inclusion' | 'exclusion' | null = null
  for (const { path, value } of specifiedPaths(specification)) {
    const isPlain = value.type === BsonType.bool || value.isNumber()
    if (path === '_id' && isPlain) continue
    if (isPlain && !value.isTruthy()) {
      if (kind === 'inclusion') throw bad(40178, "cannot exclude fields other than '_id' in an inclusion projection")
      kind = 'exclusion'
      continue
    }
    if (kind === 'exclusion') {
      if (value.type === BsonType.object)
        throw bad(40182, 'cannot include fields or add computed fields during an exclusion projection')
      throw path === '_id'
        ? bad('FailedToParse', "'_id' may not be a computed field in an exclusion projection")
        : bad(40179, 'cannot include fields or add computed fields during an exclusion projection')
    }
    kind = 'inclusion'
  }
}
