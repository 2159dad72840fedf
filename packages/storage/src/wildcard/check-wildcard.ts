/**
 * Server: index_catalog_impl.cpp (validateWildcardSpec), index_key_validate.cpp,
 * wildcard_validation.cpp.
 */
import { BsonType, CommandError, FieldIterator, findField, typeName } from '@shardlab/bson'
import { formatValue } from '@shardlab/query'
import { isSet } from '../index-specs/index-spec.js'
import type { Fail } from '../index-specs/fail.js'
import { isAtOrBelow, isWildcardName, leavesOf, type ProjectedPath } from './wildcard-spec.js'

/**
 * A wildcard index is always sparse, and its keys cover too little for uniqueness or expiry.
 * @throws CommandError CannotCreateIndex for unsupported options; BadValue, TypeMismatch,
 *   FailedToParse, 7246200, 7246207, 7246211 for its projection
 */
export function checkWildcard(spec: Uint8Array, key: Uint8Array, fail: Fail): void {
  const it = new FieldIterator(key)
  it.next()
  const projection = findField(spec, 'wildcardProjection')
  if (!isWildcardName(it.name())) {
    if (projection !== undefined)
      fail('BadValue', "The field 'wildcardProjection' is only allowed in an 'wildcard' index")
    return
  }
  const refused = (option: string): string => `Index type 'wildcard' does not support the '${option}' option`
  if (isSet(spec, 'sparse')) fail('CannotCreateIndex', refused('sparse'))
  if (isSet(spec, 'unique')) fail('CannotCreateIndex', refused('unique'))
  if (findField(spec, 'expireAfterSeconds') !== undefined)
    fail('CannotCreateIndex', `cannot make a TTL index :: caused by :: ${refused('expireAfterSeconds')}`)
  if (findField(spec, 'v')?.asNumber() === 1)
    fail('CannotCreateIndex', "Index type 'wildcard' is not allowed with index version v: 1")
  if (projection === undefined) return
  if (projection.type !== BsonType.object)
    fail(
      'TypeMismatch',
      `The field 'wildcardProjection' must be a non-empty object, but got ${typeName(projection.type)}`,
    )
  if (it.name() !== '$**')
    fail('FailedToParse', `The field 'wildcardProjection' is only allowed when 'key' is {"$**": ±1}`)
  if (projection.end - projection.start <= 5)
    fail('FailedToParse', "The 'wildcardProjection' field can't be an empty object")
  checkProjection(projection.slice())
}

function checkProjection(projection: Uint8Array): void {
  const leaves = leavesOf(projection)
  for (const it = new FieldIterator(projection); it.next();) {
    const value = it.value()
    if (value.type !== BsonType.object && !value.isNumber() && value.type !== BsonType.bool)
      throw new CommandError(
        7246207,
        `Fields in wildcardProjection must be numbers, however '${it.name()}: ${formatValue(value)}' is a ${typeName(value.type)}.`,
      )
  }
  for (const included of [true, false]) {
    const paths = leaves.filter((leaf) => leaf.included === included).map(({ path }) => path)
    paths.sort()
    for (let i = 1; i < paths.length; i++) {
      if (isAtOrBelow(paths[i]!, paths[i - 1]!))
        throw new CommandError(
          7246200,
          `Fields in Wildcard Projection cannot overlap, however '${paths[i - 1]!}' is overlapped with '${paths[i]!}`,
        )
    }
  }
  const included = leaves.filter((leaf) => leaf.included)
  const excluded = leaves.filter((leaf) => !leaf.included)
  const onlyId = (some: readonly ProjectedPath[]): boolean => some.length === 1 && some[0]!.path === '_id'
  if (included.length > 0 && excluded.length > 0 && !onlyId(included) && !onlyId(excluded))
    throw new CommandError(
      7246211,
      'Inclusion and exclusion statements cannot combine in the wildcardProjection with an exception of explicitly including _id field',
    )
}
