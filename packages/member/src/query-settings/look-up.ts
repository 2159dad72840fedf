/** Server: query_settings_service.cpp, lookupQuerySettingsWithRejectionCheck. */
import { BsonType, CommandError, findField, firstFieldName } from '@shardlab/bson'
import { internalDatabases, parseFilter, queryShape, queryShapeHash } from '@shardlab/query'
import type { QuerySettings, QuerySettingsTable } from './settings-table.js'

/**
 * The settings for a command of a client, explained or not.
 * @returns null: it has none
 * @throws CommandError 411 QueryRejectedBySettings
 */
export function lookUpQuerySettings(table: QuerySettingsTable, body: Uint8Array, db: string): QuerySettings | null {
  const explained = findField(body, 'explain')
  if (explained?.type === BsonType.object) return settingsFor(table, explained.slice(), db)
  const settings = settingsFor(table, body, db)
  const isExplained = explained?.isTruthy() === true
  if (settings?.rejects === true && !isExplained && stageExemptFromRejection(body) === null)
    throw new CommandError('QueryRejectedBySettings', 'Query rejected by admin query settings')
  return settings
}

function settingsFor(table: QuerySettingsTable, command: Uint8Array, db: string): QuerySettings | null {
  if (refusalOfNamespace(command, db) !== null) return null
  const hash = queryShapeHashOf(command, db)
  return hash === null ? null : table.find(hash)
}

/** Null: the command has no shape, or is invalid, which it reports itself. */
export function queryShapeHashOf(command: Uint8Array, db: string): string | null {
  try {
    const shape = isLookupById(command) ? null : queryShape(command, db)
    return shape === null ? null : queryShapeHash(shape)
  } catch (error) {
    if (error instanceof CommandError) return null
    throw error
  }
}

/** Null: queries of the collection may have settings. */
export function refusalOfNamespace(command: Uint8Array, db: string): CommandError | null {
  if (internalDatabases.has(db))
    return new CommandError(8584900, 'setQuerySettings command cannot be used on internal databases')
  const target = findField(command, firstFieldName(command) ?? '')
  return target?.type === BsonType.string && target.asString().startsWith('system.')
    ? new CommandError(8584901, 'setQuerySettings command cannot be used on system collections')
    : null
}

/** Server: isIdHackEligibleQueryWithoutCollator. @throws CommandError of the filter */
export function isLookupById(command: Uint8Array): boolean {
  if (firstFieldName(command) !== 'find') return false
  const filter = findField(command, 'filter')
  if (filter?.type !== BsonType.object) return false
  const root = parseFilter(filter.slice())
  if (root.kind !== 'comparison' || root.operator !== 'eq' || root.path !== '_id') return false
  if (root.value.type === BsonType.array || root.value.isNullish()) return false
  return !['showRecordId', 'hint', 'min', 'max', 'skip', 'tailable'].some(
    (name) => findField(command, name)?.isTruthy() === true,
  )
}

const stagesExemptFromRejection: ReadonlySet<string> = new Set([
  '$querySettings',
  '$planCacheStats',
  '$collStats',
  '$indexStats',
  '$listSessions',
  '$listSampledQueries',
  '$queryStats',
  '$currentOp',
  '$listCatalog',
  '$listLocalSessions',
  '$listSearchIndexes',
])

/** Null: the pipeline begins with another stage, or the command is another one. */
export function stageExemptFromRejection(command: Uint8Array): string | null {
  const pipeline = findField(command, 'pipeline')
  if (pipeline?.type !== BsonType.array || firstFieldName(command) !== 'aggregate') return null
  const first = findField(pipeline.bytes, '0', pipeline.start)
  const stage = first?.type === BsonType.object ? firstFieldName(first.slice()) : undefined
  return stage !== undefined && stagesExemptFromRejection.has(stage) ? stage : null
}
