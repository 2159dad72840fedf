/**
 * Drops and renames that a shard coordinates as the primary of a database. Once one of them has begun it goes on until every member has
 * done its part, however long one of them is away, and after a restart of the coordinator. Server: sharding_ddl_coordinator.cpp
 * (RecoverableShardingDDLCoordinator), sharding_ddl_coordinator_service.cpp.
 */
import { RequestFailedError, StepFailedError } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { ShardParts } from '../shard-parts.js'
import { DdlRecords, type DdlRecord } from './ddl-records.js'

/** Pause before a member that has not answered is asked again. */
const retryPauseMs = 500

/** How an operation is carried on after a restart, by its kind: in which critical sections, and what is done there. */
export interface DdlRecovery<R extends DdlRecord = DdlRecord> {
  hold(parts: ShardParts, record: R, work: () => Promise<void>): Promise<void>
  carryOn(parts: ShardParts, record: R): Promise<void>
}

export type DdlRecoveries = { readonly [O in DdlRecord['operation']]: DdlRecovery<Extract<DdlRecord, { readonly operation: O }>> }

export class DdlCoordinators {
  readonly records: DdlRecords
  readonly #node: StorageNode
  /** Those that clients wait for, by what was asked for. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(node: StorageNode) {
    this.#node = node
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

  /** Repeats the work until nobody is in its way. @throws RequestFailedError only when this member shuts down; other errors of the work */
  async untilDone<T>(work: () => Promise<T>): Promise<T> {
    const { context, stopping } = this.#node
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isPassing(error)) throw error
      }
      await context.sleep(retryPauseMs, stopping.signal)
    }
  }

  /** After a restart, before anybody can touch what an earlier life has begun to change. */
  recover(parts: ShardParts, recoveries: DdlRecoveries): void {
    for (const record of this.records.all()) {
      const recovery = recoveries[record.operation] as DdlRecovery
      const [db] = record.ns.split('.', 1) as [string]
      const recovering = parts.databaseMoves.coordinate(db, () => recovery.hold(parts, record, () => recovery.carryOn(parts, record)))
      recovering.catch((error: unknown) => {
        // It shuts down, and goes on in its next life; or the catalog has changed so that nothing is left to be done.
        if (!(error instanceof RequestFailedError) && !(error instanceof CommandError)) throw error
      })
    }
  }
}

/** Does it say that a member is away, or that a fault has broken something off? */
function isPassing(error: unknown): boolean {
  if (error instanceof RequestFailedError) return error.reason !== 'cancelled'
  return error instanceof StepFailedError || (error instanceof CommandError && error.code === 133)
}
