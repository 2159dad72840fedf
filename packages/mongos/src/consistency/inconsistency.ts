/** Manual: reference/inconsistency-type; server: MetadataInconsistencyItem. */
import { DocumentWriter } from '@shardlab/bson'

/**
 * `{ type, description, details: { namespace, … } }`.
 * @param details appends the details after the namespace
 */
export function inconsistency(
  type: string,
  description: string,
  ns: string,
  details: (writer: DocumentWriter) => unknown,
): Uint8Array {
  const writer = new DocumentWriter(512)
    .string('type', type)
    .string('description', description)
    .startDocument('details')
    .string('namespace', ns)
  details(writer)
  return writer.end().finish()
}
