import type { RecipientCounts } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { KeyRange } from '../ranges/key-range.js'

export function moveDetails({ min, max }: KeyRange, from: string, to: string): DocumentWriter {
  return new DocumentWriter(256).document('min', min).document('max', max).string('from', from).string('to', to)
}

export function commitDetails(range: KeyRange, from: string, to: string, counts: RecipientCounts): Uint8Array {
  const [cloned, clonedBytes, catchup, steady] = counts
  return moveDetails(range, from, to)
    .startDocument('counts')
    .int64('cloned', cloned)
    .int64('clonedBytes', clonedBytes)
    .int64('catchup', catchup)
    .int64('steady', steady)
    .end()
    .finish()
}
