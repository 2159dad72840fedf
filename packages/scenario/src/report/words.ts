/** Explains the terms of a report. */
import { escape } from '@shardlab/load'

const words: readonly (readonly [word: string, meaning: string])[] = [
  ['chunk', 'a range of the shard key; all its documents lie on one shard, and it moves as a whole'],
  [
    'largest to mean',
    'the largest shard divided by the mean of all: 1 is even, and as many as there are shards means that one has everything',
  ],
  ['migration', 'a chunk, or a part of it, moves to another shard; documents are copied while clients go on'],
  [
    'moved for',
    'draining: its shard is being removed; zoneViolation: it belongs to another zone; chunksImbalance: its shard has more than others; defragment: small chunks are gathered; other: somebody asked for it',
  ],
  [
    'least that would have done',
    'what every shard ended with more than it had; what moved beyond that moved more than once',
  ],
  ['jumbo chunk', 'too large to move, and all of it one key, so that it cannot be split'],
  [
    'orphaned documents',
    'they have moved, and their old shard has not deleted them yet; queries leave them out, fast counts do not',
  ],
  [
    'critical section',
    'the end of a migration, when the old shard lets writes, and at last reads, of the collection wait',
  ],
  ['targeted, multi, broadcast', 'operations that asked one shard, several, or all that have chunks of the collection'],
  ['p50, p99', 'half of the operations, and 99 of 100, took no longer than that'],
  ['hottest shard', 'the one that most operations asked, and their share'],
  ['trace', 'a number that is the same whenever exactly the same has happened'],
]

export function wordList(): string {
  const rows = words.map(
    ([word, meaning]) => `<tr><td class="left">${escape(word)}</td><td class="why">${escape(meaning)}</td></tr>`,
  )
  return `<details class="words"><summary>What these words mean</summary><div class="wide"><table><tbody>${rows.join('')}</tbody></table></div></details>`
}
