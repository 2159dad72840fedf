/** Server: explain_common.cpp. */
import { DocumentWriter } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'

const bufferBytes = 100 * 1024 * 1024

/** `{ host, port, version, gitVersion }` */
export function writeServerInfo(writer: DocumentWriter, { behaviours, context }: MemberHost): DocumentWriter {
  const [host, port] = context.endpoint.split(':')
  return writer
    .startDocument('serverInfo')
    .string('host', host!)
    .int32('port', Number(port ?? 27017))
    .string('version', behaviours.serverVersion)
    .string('gitVersion', '0000000000000000000000000000000000000000')
    .end()
}

/** Since 5.0: the defaults of limits that plans depend on. */
export function writeServerParameters(writer: DocumentWriter, { behaviours }: MemberHost): DocumentWriter {
  if (!behaviours.explainIsVersioned) return writer
  writer
    .startDocument('serverParameters')
    .int32('internalQueryFacetBufferSizeBytes', bufferBytes)
    .int32('internalQueryFacetMaxOutputDocSizeBytes', bufferBytes)
    .int32('internalLookupStageIntermediateDocumentMaxSizeBytes', bufferBytes)
    .int32('internalDocumentSourceGroupMaxMemoryBytes', bufferBytes)
    .int32('internalQueryMaxBlockingSortMemoryUsageBytes', bufferBytes)
    .int32('internalQueryProhibitBlockingMergeOnMongoS', 0)
    .int32('internalQueryMaxAddToSetBytes', bufferBytes)
    .int32('internalDocumentSourceSetWindowFieldsMaxMemoryBytes', bufferBytes)
  if (behaviours.explainNamesQueryFramework) writer.string('internalQueryFrameworkControl', 'forceClassicEngine')
  if (behaviours.explainNamesRegexPlanning) writer.int32('internalQueryPlannerIgnoreIndexWithCollationForRegex', 1)
  return writer.end()
}
