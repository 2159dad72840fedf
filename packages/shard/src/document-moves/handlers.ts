import type { ShardHandlers } from '../host/handlers.js'
import type { DocumentMoveHost } from './document-move-host.js'
import { documentMoveOutcome, moveDocument } from './donor.js'
import { decideInsert, prepareInsert } from './recipient.js'

export const documentMoveHandlers: ShardHandlers<
  'shard.move-document' | 'shard.prepare-insert' | 'shard.decide-insert' | 'shard.document-move-outcome',
  DocumentMoveHost
> = {
  'shard.move-document': moveDocument,
  'shard.prepare-insert': prepareInsert,
  'shard.decide-insert': decideInsert,
  'shard.document-move-outcome': documentMoveOutcome,
}
