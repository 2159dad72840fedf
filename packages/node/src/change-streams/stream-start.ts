/**
 * Where a change stream begins. Server: document_source_change_stream.cpp,
 * document_source_change_stream_check_resumability.cpp.
 */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { BsonType, CommandError, findField } from '@shardlab/bson'
import { startingAt, type ParsedToken, type TokenVersion } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { NodeHost } from '../host/node-host.js'
import { initiatingSet } from '../log/noop.js'

/** One tick after the newest entry, so that the stream does not show it. */
export function startNow({ set }: Pick<NodeHost, 'set'>, version: TokenVersion): ParsedToken {
  const [seconds, increment] = set.appliedTs
  return startingAt([seconds, increment + 1], version)
}

/**
 * @returns the position in the oplog from which the stream reads
 * @throws CommandError 286 ChangeStreamHistoryLost: the oplog has dropped entries since that time
 */
export function startPosition(
  { oplog, behaviours }: Pick<NodeHost, 'oplog' | 'behaviours'>,
  time: TimestampPair,
): number {
  const window = oplog.window()
  const { first } = window
  if (first !== null && compareTimestamps(first.optime.ts, time) > 0 && !isFirstOfSet(window.entryAt(window.start)!))
    throw historyLost(behaviours)
  return window.seek(time)
}

/** Nothing was dropped before it. */
function isFirstOfSet(entry: Uint8Array): boolean {
  if (findField(entry, 'op')!.asString() !== 'n') return false
  const object = findField(entry, 'o')!
  const message = findField(object.bytes, 'msg', object.start)
  // Those of other no-ops may be documents.
  return message?.type === BsonType.string && message.asString() === initiatingSet
}

export function historyLost({ changeStreamErrorsAreNamed }: Behaviours): CommandError {
  return new CommandError(
    changeStreamErrorsAreNamed ? 'ChangeStreamHistoryLost' : 40576,
    'Resume of change stream was not possible, as the resume point may no longer be in the oplog.',
  )
}
