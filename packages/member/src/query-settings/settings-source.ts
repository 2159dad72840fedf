/** Documents of $querySettings. Server: document_source_query_settings.cpp. */
import { DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { queryShape } from '@shardlab/query'
import { listSource } from '../cursors/list-source.js'
import type { DocumentSource } from '../cursors/document-source.js'
import type { QuerySettingsTable } from './settings-table.js'

export function querySettingsSource(table: QuerySettingsTable | null, argument: RawValue): DocumentSource {
  const configurations = table?.configurations ?? []
  const showsShape = findField(argument.bytes, 'showDebugQueryShape', argument.start)?.isTruthy() === true
  return listSource(showsShape ? configurations.map(withShape) : [...configurations])
}

function withShape(configuration: Uint8Array): Uint8Array {
  const query = findField(configuration, 'representativeQuery')
  if (query === undefined) return configuration
  const shape = queryShape(query.slice(), findField(query.bytes, '$db', query.start)!.asString())!
  return new DocumentWriter(configuration.length + shape.length + 64)
    .fields(configuration)
    .document('debugQueryShape', shape)
    .finish()
}
