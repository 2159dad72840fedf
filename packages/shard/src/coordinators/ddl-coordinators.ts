/**
 * Drops and renames that a shard coordinates as the primary of a database. Once one of them has begun it goes on until every member has
 * done its part, however long one of them is away, and after a restart of the coordinator. Server: sharding_ddl_coordinator.cpp
 * (RecoverableShardingDDLCoordinator), sharding_ddl_coordinator_service.cpp.
 */
import { RequestFailedError } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { DatabaseMoves } from './locks/database-moves.js'
import { DdlRecords, type DdlRecord, type MovePrimaryRecord } from './ddl-records.js'

/** How an operation resumes after a restart: in which critical sections, and with which work. */
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
  /** Those that clients wait for, by what was asked for. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(node: NodeHost) {
    this.records = new DdlRecords(node)
  }

  /** Runs the work; whoever asks for the same meanwhile waits for the same. */
  once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) as Promise<T> | undefined
    if (running !== undefined) return running
    const started = work().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** After a restart, before anybody can touch what an earlier life has begun to change. */
  recover<Host extends RecoveryHost>(host: Host, recoveries: DdlRecoveries<Host>): void {
    for (const record of this.records.all()) {
      if (record.operation === 'movePrimary') continue
      const recovery = recoveries[record.operation] as DdlRecovery<DdlRecord, Host>
      const [db] = record.ns.split('.', 1) as [string]
      const holder = { operation: record.operation, mode: record.operation === 'dropDatabase' ? 'X' : 'IX' } as const
      const resume = () => recovery.hold(host, record, () => recovery.resume(host, record))
      const recovering = host.databaseMoves.recover(db, holder, resume)
      recovering.catch((error: unknown) => {
        // It shuts down, and goes on in its next life; or the catalog has changed so that nothing is left to be done.
        if (!(error instanceof RequestFailedError) && !(error instanceof CommandError)) throw error
      })
    }
  }
}
