/** An inconsistency as clients get it. Manual: reference/inconsistency-type; server: MetadataInconsistencyItem. */
import { DocumentWriter } from '@shardlab/bson'

/** `{ type, description, details: { namespace, … } }`; `details` appends what follows the namespace. */
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
