import { configAddress, unversioned } from '@shardlab/actor'
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { DatabaseEntry } from '../catalog/database-entry.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields, isStaleCode, replyError, replyWriterFor } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'
import { again, retryStale } from './retry-stale.js'
import { createImplicitly } from './implicit-database.js'
import { isConfigDatabase } from './route.js'

/**
 * Runs `attempt` again after each failure for a stale database version.
 * @throws CommandError those of the attempt; the stale error after the last attempt
 */
export function withDatabase<T>(
  invocation: MongosInvocation,
  db: string,
  create: boolean,
  attempt: (database: DatabaseEntry | null) => Promise<T>,
): Promise<T> {
  const { host, operation } = invocation
  let failure: unknown
  return retryStale(
    host,
    async () => {
      const known = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, operation))
      const database = known === null && create ? await createImplicitly(host, db, operation) : known
      try {
        return await attempt(database)
      } catch (error) {
        if (!(error instanceof CommandError) || !isStaleCode(error.code)) throw error
        host.catalog.staleConfigCount++
        operation.staleReplies++
        host.catalog.markDatabaseStale(db, database)
        failure = error
        return again
      }
    },
    () => {
      throw failure
    },
  )
}

export function primaryCommand({ db, body, sequences }: MongosInvocation, database: DatabaseEntry): RemoteCommand {
  return { db, body, sequences, shardVersion: null, databaseVersion: database.version, stmtIds: null }
}

/**
 * Sends the client's command unchanged.
 * @throws CommandError of the member or of the request to it
 */
export async function passThrough(
  invocation: MongosInvocation,
  member: string,
  command: RemoteCommand,
  idempotent: boolean,
): Promise<DocumentWriter> {
  const { body } = await invocation.host.remote.command(member, command, invocation.operation, idempotent)
  const error = replyError(body)
  if (error !== null) throw error
  return copyReplyFields(replyWriterFor(body), body)
}

export function configCommand({ db, body, sequences }: MongosInvocation): RemoteCommand {
  return unversioned(db, body, sequences)
}

/** Null: another database than `config` and `admin`. */
export function configMemberOf(db: string): string | null {
  return isConfigDatabase(db) ? configAddress : null
}
