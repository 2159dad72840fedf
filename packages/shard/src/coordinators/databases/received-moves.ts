/**
 * The latest movePrimary of each database from each shard, on the new primary shard. A request of
 * an earlier move, or of one that has ended, has no effect: it is late, or its sender was replaced
 * as primary and does not know yet. Records are never removed, because no limit says how late a
 * request may arrive.
 * Server: move_primary_coordinator.cpp, getNewSession: transaction numbers order the requests.
 */
import { compareTimestamps, timestampPair, type PrimaryMove, type TimestampPair } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { Records } from '../../common/record-store.js'

interface ReceivedMove {
  readonly db: string
  readonly from: string
  readonly startedAt: TimestampPair
  readonly hasEnded: boolean
}

type ReceivedMoveKey = Pick<ReceivedMove, 'db' | 'from'>

export class ReceivedMoves {
  readonly #records: Records<ReceivedMove, ReceivedMoveKey>

  constructor(node: NodeHost) {
    this.#records = new Records(node, {
      ns: 'config.receivedPrimaryMoves',
      id: idOf,
      write: ({ db, from, startedAt, hasEnded }) =>
        new DocumentWriter(128)
          .value('_id', idOf({ db, from }))
          .timestamp('startedAt', ...startedAt)
          .bool('ended', hasEnded)
          .finish(),
      read: (document) => {
        const field = (name: string) => findField(document, name)!
        const { bytes, start } = field('_id')
        return {
          db: findField(bytes, 'namespace', start)!.asString(),
          from: findField(bytes, 'fromShardId', start)!.asString(),
          startedAt: timestampPair(field('startedAt')),
          hasEnded: field('ended').isTruthy(),
        }
      },
    })
  }

  /** Whether requests of the move have effects. */
  isOpen(db: string, [from, ...startedAt]: PrimaryMove): boolean {
    const latest = this.#records.get({ db, from })
    if (latest === undefined) return true
    const order = compareTimestamps(startedAt, latest.startedAt)
    return order > 0 || (order === 0 && !latest.hasEnded)
  }

  /**
   * Closes earlier moves. The caller flushes the node.
   * @throws CommandError 117 ConflictingOperationInProgress: the move is closed
   */
  admit(db: string, move: PrimaryMove): void {
    const [from, ...startedAt] = move
    if (!this.isOpen(db, move))
      throw new CommandError(
        'ConflictingOperationInProgress',
        `The movePrimary of ${db} from ${from} has ended, or another one has followed`,
      )
    const latest = this.#records.get({ db, from })
    if (latest === undefined || compareTimestamps(latest.startedAt, startedAt) < 0)
      this.#records.put({ db, from, startedAt, hasEnded: false })
  }

  /** The move must be open. The caller flushes the node. */
  end(db: string, [from, ...startedAt]: PrimaryMove): void {
    this.#records.put({ db, from, startedAt, hasEnded: true })
  }
}

function idOf({ db, from }: ReceivedMoveKey): RawValue {
  const document = new DocumentWriter(96)
    .startDocument('_id')
    .string('namespace', db)
    .string('fromShardId', from)
    .end()
    .finish()
  return findField(document, '_id')!
}
