/**
 * Drops and renames that a shard coordinates as the primary of a database. Once started, they
 * continue until every shard has done its part, however long one is unreachable, and resume after a
 * restart of the coordinator.
 * Server: sharding_ddl_coordinator.cpp (RecoverableShardingDDLCoordinator),
 * sharding_ddl_coordinator_service.cpp.
 */
import { RequestFailedError } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { DatabaseMoves } from './locks/database-moves.js'
import { DdlRecords, type DdlRecord, type MovePrimaryRecord } from './ddl-records.js'

/** How an operation resumes after a restart: its critical sections, and its work. */
export interface DdlRecovery<R extends DdlRecord, Host> {
  hold(host: Host, record: R, work: () => Promise<void>): Promise<void>
  resume(host: Host, record: R): Promise<void>
}

/** All but movePrimary, which does not resume: recovery ends it. */
type Resumed = Exclude<DdlRecord, MovePrimaryRecord>

export type DdlRecoveries<Host> = {
  readonly [O in Resumed['operation']]: DdlRecovery<Extract<Resumed, { readonly operation: O }>, Host>
}

interface RecoveryHost {
  readonly databaseMoves: Pick<DatabaseMoves, 'recover'>
}

export class DdlCoordinators {
  readonly records: DdlRecords
  /** Operations in progress, by request. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(node: NodeHost) {
    this.records = new DdlRecords(node)
  }

  /** Runs the work; equal requests share one run. */
  once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) as Promise<T> | undefined
    if (running !== undefined) return running
    const started = work().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** Resumes after a restart, before any command can enter the namespaces concerned. */
  recover<Host extends RecoveryHost>(host: Host, recoveries: DdlRecoveries<Host>): void {
    for (const record of this.records.all()) {
      if (record.operation === 'movePrimary') continue
      const recovery = recoveries[record.operation] as DdlRecovery<DdlRecord, Host>
      const [db] = record.ns.split('.', 1) as [string]
      const holder = { operation: record.operation, mode: record.operation === 'dropDatabase' ? 'X' : 'IX' } as const
      const resume = () => recovery.hold(host, record, () => recovery.resume(host, record))
      const recovering = host.databaseMoves.recover(db, holder, resume)
      recovering.catch((error: unknown) => {
        // A shutdown: the next start resumes it. Or the catalog has changed and nothing is left
        // to do.
        if (!(error instanceof RequestFailedError) && !(error instanceof CommandError)) throw error
      })
    }
  }
}
