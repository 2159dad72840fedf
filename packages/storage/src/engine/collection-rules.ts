import { findField } from '@shardlab/bson'
import { cappedLimitsOf } from '../records/capped.js'
import type { CappedLimits } from './types.js'

/** What the options of a collection mean for each change. */
export interface CollectionRules {
  readonly capped: CappedLimits | null
  /** The option changeStreamPreAndPostImages. */
  readonly recordsPreImages: boolean
}

export function rulesOf(options: Uint8Array): CollectionRules {
  const images = findField(options, 'changeStreamPreAndPostImages')
  return {
    capped: cappedLimitsOf(options),
    recordsPreImages: images !== undefined && findField(images.bytes, 'enabled', images.start)?.isTruthy() === true,
  }
}
