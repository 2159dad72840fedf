/**
 * An aggregate without `cursor` replies with all results in one document, until 3.4. Server:
 * pipeline_command.cpp.
 */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { readCursorReply } from '../cursors/read-cursor-reply.js'
import { argumentsOfAggregate } from '../specs/aggregate.js'

interface AggregateInvocation {
  readonly args: CommandArguments
  readonly body: Uint8Array
  readonly host: { readonly behaviours: Behaviours }
}

export function wantsSingleReply({ args, host }: AggregateInvocation): boolean {
  return !args.has('cursor') && !host.behaviours.language.aggregateNeedsCursor
}

/**
 * @param run the same command with a cursor
 * @throws CommandError 16389 when the results do not fit into one document
 */
export async function withSingleReply<I extends AggregateInvocation>(
  invocation: I,
  run: (invocation: I) => Promise<DocumentWriter>,
  killCursor: (id: bigint) => void,
): Promise<DocumentWriter> {
  const { body, host } = invocation
  const whole = new DocumentWriter(body.length + 64)
    .fields(body)
    .startDocument('cursor')
    .int32('batchSize', 0x7fff_ffff)
    .end()
    .finish()
  const reply = await run({ ...invocation, body: whole, args: argumentsOfAggregate(whole, host.behaviours) })
  const { id, batch } = readCursorReply(reply.finish(), 'firstBatch')
  if (id !== 0n) {
    killCursor(id)
    throw new CommandError(16389, 'aggregation result exceeds maximum document size (16MB)')
  }
  return new DocumentWriter(batch.end - batch.start + 128).value('result', batch)
}
