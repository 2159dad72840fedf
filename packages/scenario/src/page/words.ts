import { table } from '@shardlab/report'

const words: readonly (readonly [word: string, meaning: string])[] = [
  ['chunk', 'a range of the shard key; all its documents are on one shard, and it moves as a whole'],
  [
    'largest / mean',
    'the largest shard divided by the mean of all shards: 1 is even; the number of shards means that one shard has everything',
  ],
  [
    'migration',
    'a chunk, or a part of it, moves to another shard; documents are copied while clients continue to work',
  ],
  [
    'by reason',
    'draining: its shard is being removed; zoneViolation: it belongs to another zone; chunksImbalance: its shard has more than others; defragment: small chunks are merged; other: a command requested it, or it is a new last chunk',
  ],
  [
    'minimum',
    'the fewest bytes that lead to the same distribution at the end; all bytes beyond it were moved more than once',
  ],
  [
    'jumbo chunk',
    'marked as too large to move, and it cannot be split, for example because all its documents have one key',
  ],
  [
    'orphaned documents',
    'documents that have moved and that their old shard has not deleted yet; queries skip them, fast counts include them',
  ],
  [
    'critical section',
    'the end of a migration, when the old shard blocks writes, and finally reads, of the collection',
  ],
  [
    'targeted, multi, broadcast',
    'operations sent to one shard, to several, or to all shards that have chunks of the collection',
  ],
  [
    'to reshard',
    'free disk as the manual demands: twice the size of the collection and its indexes, divided by the shards. Least time: what each shard receives, divided by the bandwidth, and at least five minutes. The manual also demands an oplog of 24 hours, a processor load below 80% and an I/O load below 50%',
  ],
  ['p50, p99', 'half of the operations, and 99 of 100, took at most this long'],
  ['hottest shard', 'the shard that received the most operations, and its share of them'],
  ['trace hash', 'a hash of all messages of the run: equal hashes mean identical runs'],
]

export const wordTable = table('Glossary', ['word', '~meaning'], words)
