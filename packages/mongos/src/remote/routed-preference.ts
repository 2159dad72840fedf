import { CommandError, DocumentWriter, findField, firstFieldName, isEmptyDocument, elementsOf } from '@shardlab/bson'
import { parseReadPreference, type ReadPreference } from '@shardlab/member'
import { formatDocument } from '@shardlab/query'

export interface RoutedPreference extends ReadPreference {
  /** As the client sent it. */
  readonly document: Uint8Array
}

/** Commands that a secondary may serve. Cursors are read where they were opened. */
const servedBySecondaries: ReadonlySet<string> = new Set([
  'aggregate',
  'collStats',
  'count',
  'dataSize',
  'dbStats',
  'distinct',
  'explain',
  'filemd5',
  'find',
  'listCollections',
  'listDatabases',
  'listIndexes',
  'mapReduce',
])

/** Of a command to a set of several members. Null: its primary serves the command. */
export function readPreferenceOf(body: Uint8Array): RoutedPreference | null {
  if (!servedBySecondaries.has(firstFieldName(body)!)) return null
  const document = findField(body, '$readPreference')?.slice()
  if (document === undefined) return null
  const preference = parseReadPreference(document)
  return preference.mode === 'primary' ? null : { ...preference, document }
}

/** Server: ReadPreferenceSetting::toInnerBSON. */
export function noSuitableMember(setName: string, { mode, document, maxStalenessMs }: RoutedPreference): CommandError {
  const shown = new DocumentWriter(document.length + 64).string('mode', mode)
  const tags = findField(document, 'tags')
  if (tags !== undefined && !isWildcard(elementsOf(tags).map((set) => set.slice()))) shown.value('tags', tags)
  if (maxStalenessMs !== null) shown.int32('maxStalenessSeconds', maxStalenessMs / 1000)
  return new CommandError(
    'FailedToSatisfyReadPreference',
    `Could not find host matching read preference ${formatDocument(shown.finish())} for set ${setName}`,
  )
}

function isWildcard(tagSets: readonly Uint8Array[]): boolean {
  return tagSets.length === 0 || (tagSets.length === 1 && isEmptyDocument(tagSets[0]!))
}
