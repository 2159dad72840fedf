import type { Document } from '@shardlab/bson'
import type { Sequences } from './worlds.js'

/** A command with `$db`, sent to the mongos unless another member is named. */
export interface Say {
  (
    step: string,
    command: Document,
    expected: Document,
    more?: { readonly sequences?: Sequences; readonly to?: string },
  ): Promise<Document>
}
