import { CommandError, DocumentWriter, nullValue, stringValue, type RawValue } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { isCollatable, labelled } from '../collation/labelled.js'
import type { StringLabels } from '../collation/string-labels.js'
import type { Index } from '../engine/types.js'

/** @param document has a key that another document has. Server: duplicate_key_error_info.cpp. */
export function duplicateKeyError(index: Index, ns: string, document: Uint8Array, key: string): CommandError {
  const { labels, collation } = index
  const tuple = index.tuplesOf(document).find((candidate) => index.encode(candidate) === key)!
  const values = new DocumentWriter()
  const shown = new DocumentWriter()
  index.pattern.forEach(({ path }, i) => {
    const value = tuple[i] ?? nullValue
    values.value(path, value)
    shown.value(
      path,
      labels === null || !isCollatable(value.type) ? value : stringValue(collationKeyText(value, labels)),
    )
  })
  const extra = new DocumentWriter().document('keyPattern', index.key).document('keyValue', values.finish())
  if (collation !== null) extra.document('collation', collation)
  const text = collation === null ? '' : ` collation: ${formatDocument(collation)}`
  return new CommandError(
    'DuplicateKey',
    `E11000 duplicate key error collection: ${ns} index: ${index.name}${text} dup key: ${formatDocument(shown.finish())}`,
    { extra: extra.finish() },
  )
}

/** As server messages and explain print the key of a string. */
function collationKeyText(value: RawValue, labels: StringLabels): string {
  const label = labelled(value, labels)
  return `CollationKey(0x${Buffer.from(label.bytes.subarray(label.start + 4, label.end - 1)).toString('hex')})`
}
