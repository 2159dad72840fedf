import { findField } from '@shardlab/bson'

/** The option changeStreamPreAndPostImages. @param options of a collection */
export function recordsPreImages(options: Uint8Array): boolean {
  const option = findField(options, 'changeStreamPreAndPostImages')
  return option !== undefined && findField(option.bytes, 'enabled', option.start)?.isTruthy() === true
}
