/**
 * Changes of definitions that the primary shard of a database coordinates. Those with a record
 * retry until every shard has done its part, and resume after a restart of the coordinator.
 * Server: sharding_ddl_coordinator.cpp (RecoverableShardingDDLCoordinator),
 * sharding_ddl_coordinator_service.cpp.
 */
import { RequestFailedError, StepFailedError, type DatabaseVersionTuple, type Deferred } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { untilMajorityHasState, type NodeHost } from '@shardlab/node'
import { Signal } from '../common/signal.js'
import type { DatabasePlacements, PlacementHost } from '../host/host.js'
import type { DdlLocks, LockRequest } from './locks/ddl-locks.js'
import { ReceivedMoves } from './databases/received-moves.js'
import { DdlRecords, namesOfRecord, type DdlRecord } from './ddl-records.js'
import { raiseStaleDatabase } from './primary-shard-check.js'

export interface Coordination extends LockRequest {
  readonly databaseVersion: DatabaseVersionTuple
  /**
   * Concurrent requests with equal arguments for the same first name share one run. Null: each
   * request runs.
   */
  readonly args: string | null
  /** Why a request with other arguments is refused during this run; absent: it waits. */
  readonly conflict?: string
}

export interface DdlRecovery<R extends DdlRecord, Host> {
  hold(host: Host, record: R, work: () => Promise<void>): Promise<void>
  resume(host: Host, record: R): Promise<void>
}

export type DdlRecoveries<Host> = {
  readonly [O in DdlRecord['operation']]: DdlRecovery<Extract<DdlRecord, { readonly operation: O }>, Host>
}

interface VersionHost extends PlacementHost {
  readonly placements: PlacementHost['placements'] & DatabasePlacements
}

interface Run {
  readonly args: string
  readonly conflict: string | undefined
  readonly done: Promise<unknown>
}

export class DdlCoordinators {
  readonly records: DdlRecords
  readonly receivedMoves: ReceivedMoves
  /** A database is released by its old primary shard. */
  readonly released: Signal
  /** By database that another shard moves here. Resolved once this shard has the lock. */
  readonly databaseHolds = new Map<string, Deferred<void>>()
  readonly #node: NodeHost
  readonly #locks: DdlLocks
  /** By operation and first name, and by arguments if they cannot conflict. */
  readonly #runs = new Map<string, Run>()

  constructor(node: NodeHost, locks: DdlLocks) {
    this.records = new DdlRecords(node)
    this.receivedMoves = new ReceivedMoves(node)
    this.released = new Signal(node.context)
    this.#node = node
    this.#locks = locks
  }

  /**
   * Runs a coordinator with its locks, or joins a running one. The database's version is checked
   * again when the locks are held, because an earlier holder may have dropped or moved it.
   * @throws CommandError 249 StaleDbVersion; 117 ConflictingOperationInProgress; 46 LockBusy;
   *   errors of the work
   */
  async coordinate<T>(
    { node, placements }: VersionHost,
    coordination: Coordination,
    work: () => Promise<T>,
  ): Promise<T> {
    const { names, databaseVersion } = coordination
    const check = () => raiseStaleDatabase(placements, node.context.address, names[0]!, databaseVersion)
    await check()
    return this.#joinOrStart(coordination, () =>
      this.#locks.hold(coordination, async () => {
        await check()
        return work()
      }),
    )
  }

  /**
   * Runs a change that keeps no record with the lock of its collection.
   * @throws CommandError 46 LockBusy; errors of the work
   */
  holdLock<T>(operation: string, ns: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.hold({ operation, names: [ns] }, work)
  }

  /**
   * As {@link coordinate}, for work that a restart has interrupted: without checks and time limit.
   */
  resume<T>(interrupted: Omit<Coordination, 'databaseVersion'>, work: () => Promise<T>): Promise<T> {
    return this.#joinOrStart(interrupted, () => this.#locks.recover(interrupted, work))
  }

  /** Call after a restart, before any command can enter the namespaces concerned. */
  recover<Host>(host: Host, recoveries: DdlRecoveries<Host>): void {
    for (const record of this.records.all()) {
      const recovery = recoveries[record.operation] as DdlRecovery<DdlRecord, Host>
      const operation = record.operation === 'receiveDatabase' ? 'movePrimary' : record.operation
      const resumed = this.resume({ operation, names: namesOfRecord(record), args: null }, () =>
        recovery.hold(host, record, async () => {
          await untilMajorityHasState(this.#node)
          await recovery.resume(host, record)
        }),
      )
      resumed.catch((error: unknown) => {
        // After a shutdown the next start resumes. After a change of the catalog, or a fault that
        // made a step fail, nothing is left to do.
        const isExpected = error instanceof RequestFailedError || error instanceof StepFailedError
        if (!isExpected && !(error instanceof CommandError)) throw error
      })
    }
  }

  #joinOrStart<T>(
    { operation, names, args, conflict }: Omit<Coordination, 'databaseVersion'>,
    start: () => Promise<T>,
  ): Promise<T> {
    if (args === null) return start()
    const key = [operation, names[0], ...(conflict === undefined ? [args] : [])].join(' ')
    const running = this.#runs.get(key)
    if (running !== undefined) {
      if (running.args === args) return running.done as Promise<T>
      throw new CommandError('ConflictingOperationInProgress', running.conflict!)
    }
    const done = start().finally(() => this.#runs.delete(key))
    this.#runs.set(key, { args, conflict, done })
    return done
  }
}
