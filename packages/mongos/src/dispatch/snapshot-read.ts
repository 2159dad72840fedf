/**
 * Reads with read concern snapshot use one time for all shards. Server: cluster_find.cpp,
 * computeAtClusterTime; manual: reference/read-concern-snapshot.
 */
import { CommandArguments, type CommandRow, type TimestampPair } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import { withAtClusterTime } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { again, retryStale } from '../routing/retry-stale.js'
import { snapshotTime } from './snapshot-time.js'

/**
 * Runs at the client's time, or at a time that every shard can still read.
 * @throws CommandError those of the command; 239 SnapshotTooOld, 250 StaleChunkHistory for an
 *   expired time of the client
 */
export function runSnapshotRead(
  row: CommandRow<MongosInvocation>,
  invocation: MongosInvocation,
  run: (invocation: MongosInvocation) => Promise<DocumentWriter> | DocumentWriter,
): Promise<DocumentWriter> {
  const { host, concerns } = invocation
  const { atClusterTime } = concerns.read
  let failure: unknown
  return retryStale(
    host,
    async () => {
      const time = snapshotTime(host, concerns.read)
      try {
        return withAtClusterTime(await run(at(row, invocation, time)), time)
      } catch (error) {
        // The shard changed after this time. Its reply has advanced the clock, so a new time may be
        // readable.
        if (atClusterTime !== null || !(error instanceof CommandError) || !isSnapshotError(error)) throw error
        failure = error
        return again
      }
    },
    () => {
      throw failure
    },
  )
}

/** Server: error_codes.yml, category SnapshotError. */
const snapshotErrors: ReadonlySet<string> = new Set([
  'SnapshotTooOld',
  'SnapshotUnavailable',
  'StaleChunkHistory',
  'MigrationConflict',
])

function isSnapshotError({ codeName }: CommandError): boolean {
  return snapshotErrors.has(codeName)
}

function at(
  row: CommandRow<MongosInvocation>,
  invocation: MongosInvocation,
  [seconds, increment]: TimestampPair,
): MongosInvocation {
  const writer = new DocumentWriter(invocation.body.length + 64)
  for (const it = new FieldIterator(invocation.body); it.next();) {
    if (it.name() === 'readConcern') {
      writer
        .startDocument('readConcern')
        .string('level', 'snapshot')
        .timestamp('atClusterTime', seconds, increment)
        .end()
    } else writer.value(it.name(), it.value())
  }
  const body = writer.finish()
  const concerns = {
    ...invocation.concerns,
    read: { ...invocation.concerns.read, atClusterTime: [seconds, increment] as const },
  }
  return { ...invocation, body, args: CommandArguments.parse(body, row.fields ?? null), concerns }
}
