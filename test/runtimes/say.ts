import type { Document } from '@shardlab/bson'
import type { Sequences } from './worlds.js'

/** Sends a command with `$db`: to the mongos unless another member is named. */
export interface Say {
  (
    step: string,
    command: Document,
    expected: Document,
    more?: { readonly sequences?: Sequences; readonly to?: string },
  ): Promise<Document>
}
