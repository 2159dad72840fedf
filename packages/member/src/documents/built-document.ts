/** Server: bson_size_limits, BSONObj::_assertInvalid. */
import { maxBuiltDepth, CommandError, FieldIterator, nestsDeeperThan } from '@shardlab/bson'
import { formatField } from '@shardlab/query'
import { documentBytesMax } from './document-size.js'

/** Larger documents fail before the limit for users applies. */
export const builtBytesMax = documentBytesMax + 16 * 1024

/** Largest first field that the error message shows. */
const shownBytesMax = 64 * 1024

/** @throws CommandError 10334 BSONObjectTooLarge, 15 Overflow when it is nested too deep */
export function checkBuilt(document: Uint8Array): void {
  if (nestsDeeperThan(document, maxBuiltDepth))
    throw new CommandError(
      'Overflow',
      `cannot convert document to BSON because it exceeds the limit of ${maxBuiltDepth} levels of nesting`,
    )
  const sizeBytes = document.length
  if (sizeBytes <= builtBytesMax) return
  const first = new FieldIterator(document)
  const shown = first.next() && first.value().end - first.value().start <= shownBytesMax
  const element = shown ? ` First element: ${formatField(first.name(), first.value())}` : ''
  throw new CommandError(
    'BSONObjectTooLarge',
    `BSONObj size: ${sizeBytes} (0x${sizeBytes.toString(16).toUpperCase()}) is invalid. Size must be between 0 and ${builtBytesMax}(16MB)${element}`,
  )
}
