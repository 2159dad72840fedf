/**
 * The cursors that a router opened on the shards, as the input of the merging half of its pipeline.
 * Server: document_source_merge_cursors.cpp, async_results_merger_params.idl.
 */
import type { ActorContext, Address } from '@shardlab/actor'
import { BsonType, elementsOf, findField, type RawValue, type StringComparator } from '@shardlab/bson'
import { parseSort } from '@shardlab/query'
import { failureOf, InputMerger, readCursorReply, documentOrder, type TimeLimit } from '@shardlab/member'
import type { CursorSource, FillingCommand } from '../../cursors/cursor-manager.js'
import { RemoteCursor } from '../../cursors/remote-cursor.js'
import type { NodeInvocation } from '../../host/node-host.js'

/**
 * @param argument of `$mergeCursors`:
 *   `{ sort?, remotes: [{ shardId, hostAndPort, cursorResponse: { cursor, ok } }], … }`; each
 *   response is the reply that opened the cursor
 * @param strings comparison of the collation; undefined: by bytes
 */
export function mergedCursors(
  { host, db }: NodeInvocation,
  argument: RawValue,
  strings: StringComparator | undefined,
): CursorSource {
  const sort = findField(argument.bytes, 'sort', argument.start)
  const remotes = elementsOf(findField(argument.bytes, 'remotes', argument.start)!).map((remote) => {
    const text = (name: string) => findField(remote.bytes, name, remote.start)!.asString()
    const response = readCursorReply(findField(remote.bytes, 'cursorResponse', remote.start)!.slice(), 'firstBatch')
    const cursor = new RemoteCursor(host, {
      member: memberOf(host.context, text('shardId'), text('hostAndPort')),
      host: text('hostAndPort'),
      db,
      ns: response.ns,
      id: response.id,
    })
    cursor.load(response.batch)
    return cursor
  })
  return new MergedCursors(
    new InputMerger(remotes, sort?.type === BsonType.object ? documentOrder(parseSort(sort.slice()), strings) : null),
  )
}

/** A cursor of a set with several members is read from the one that has it. */
function memberOf(context: ActorContext, shard: string, host: string): Address {
  return context.resolve(shard).length > 1 ? (context.resolve(host)[0] ?? shard) : shard
}

class MergedCursors implements CursorSource {
  readonly #merger: InputMerger<RemoteCursor>

  constructor(merger: InputMerger<RemoteCursor>) {
    this.#merger = merger
  }

  get dry(): boolean {
    return !this.#merger.done
  }

  next(): Uint8Array | null {
    return this.#merger.take()
  }

  async fill(invocation: FillingCommand, timeLimit: TimeLimit | null): Promise<void> {
    const { host, operation } = invocation
    operation.checkForInterrupt()
    const failures = await host.reads.during(host.context, operation, (context) => {
      const filling = this.#merger.dry().map((remote) => failureOf(remote.fill(invocation, context, timeLimit)))
      return operation.interruptible(context.all(filling))
    })
    for (const failure of failures) if (failure !== null) throw failure.error
  }

  close(): void {
    for (const remote of this.#merger.inputs) remote.close()
  }
}
