import { CommandError, fieldsOf, findField, BsonType, type RawValue } from '@shardlab/bson'
import { newestLanguage, parseSort, type Language, type SortPattern } from '@shardlab/query'

/**
 * The sort of a query; a pipeline's has errors of its own. Server: query_request.cpp until 4.2.
 * @throws CommandError 2 BadValue and others for an invalid sort
 */
export function parseQuerySort(sort: Uint8Array, language: Language = newestLanguage): SortPattern {
  if (language.sortErrors === 'bad sort' && !fieldsOf(sort).every(([name, value]) => name !== '' && isDirection(value)))
    throw new CommandError('BadValue', 'bad sort specification')
  return parseSort(sort)
}

function isDirection(value: RawValue): boolean {
  if (value.type === BsonType.object) return findField(value.bytes, '$meta', value.start) !== undefined
  return value.isNumber() && Math.abs(Math.trunc(value.asNumber())) === 1
}
