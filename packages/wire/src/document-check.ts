import { CommandError, readInt32, validateBson, validationErrorCode } from '@shardlab/bson'
import { maxBsonObjectInternalSize } from './constants.js'

/**
 * Checks the document from `start`, which must end before `limit`.
 * @returns the end of the document
 * @throws {@link CommandError} 22 InvalidBSON, 15 Overflow (nested too deep), 10334
 *   BSONObjectTooLarge
 */
export function checkDocument(bytes: Uint8Array, start: number, limit: number): number {
  const size = limit - start < 5 ? limit - start : readInt32(bytes, start)
  if (size > limit - start) throw new CommandError('InvalidBSON', 'BSON size is larger than buffer size')
  const end = start + Math.max(0, size)
  const reason = validateBson(bytes, start, end)
  if (reason !== null) throw new CommandError(validationErrorCode(reason), reason)
  if (size > maxBsonObjectInternalSize) {
    throw new CommandError(
      'BSONObjectTooLarge',
      `BSONObj size: ${size} (0x${size.toString(16).toUpperCase()}) is invalid. Size must be between 0 and ${maxBsonObjectInternalSize}(16MB)`,
    )
  }
  return end
}
