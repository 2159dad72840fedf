/**
 * Drops and renames that the primary shard of a database coordinates. Once started, they retry
 * until every shard has done its part, and resume after a restart of the coordinator.
 * Server: sharding_ddl_coordinator.cpp (RecoverableShardingDDLCoordinator),
 * sharding_ddl_coordinator_service.cpp.
 */
import { RequestFailedError } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { DatabaseMoves } from './locks/database-moves.js'
import { DdlRecords, type DdlRecord, type MovePrimaryRecord } from './ddl-records.js'

export interface DdlRecovery<R extends DdlRecord, Host> {
  hold(host: Host, record: R, work: () => Promise<void>): Promise<void>
  resume(host: Host, record: R): Promise<void>
}

/** movePrimary does not resume: its recovery ends it. */
type Resumed = Exclude<DdlRecord, MovePrimaryRecord>

export type DdlRecoveries<Host> = {
  readonly [O in Resumed['operation']]: DdlRecovery<Extract<Resumed, { readonly operation: O }>, Host>
}

interface RecoveryHost {
  readonly databaseMoves: Pick<DatabaseMoves, 'recover'>
}

export class DdlCoordinators {
  readonly records: DdlRecords
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(node: NodeHost) {
    this.records = new DdlRecords(node)
  }

  /** Calls with equal keys share one run. */
  once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) as Promise<T> | undefined
    if (running !== undefined) return running
    const started = work().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** Call after a restart, before any command can enter the namespaces concerned. */
  recover<Host extends RecoveryHost>(host: Host, recoveries: DdlRecoveries<Host>): void {
    for (const record of this.records.all()) {
      if (record.operation === 'movePrimary') continue
      const recovery = recoveries[record.operation] as DdlRecovery<DdlRecord, Host>
      const [db] = record.ns.split('.', 1) as [string]
      const holder = { operation: record.operation, mode: record.operation === 'dropDatabase' ? 'X' : 'IX' } as const
      const resume = () => recovery.hold(host, record, () => recovery.resume(host, record))
      const recovering = host.databaseMoves.recover(db, holder, resume)
      recovering.catch((error: unknown) => {
        // After a shutdown the next start resumes. After a change of the catalog nothing is left to
        // do.
        if (!(error instanceof RequestFailedError) && !(error instanceof CommandError)) throw error
      })
    }
  }
}
