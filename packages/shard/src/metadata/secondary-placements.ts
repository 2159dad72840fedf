/**
 * When a secondary may use a placement. Its primary changes placements under records, which
 * replicate: a read that has waited for such a record, or for a later entry, must not use a
 * placement from before it. And data that comes with a new placement replicates too: the secondary
 * needs what its primary had under it. Server: shard_server_catalog_cache_loader.cpp, entries in
 * config.cache.collections.
 */
import { compareTimestamps, RequestFailedError, requestFailure, type TimestampPair } from '@shardlab/actor'
import { findField, firstFieldName } from '@shardlab/bson'
import { databaseNameOf, RunningOperation } from '@shardlab/member'
import { inTime, raiseError, type Entrant, type NodeHost } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { LogEntry } from '@shardlab/storage'
import { RecordStore } from '../common/record-store.js'
import { repeatedRequest } from '../common/repeated-request.js'
import { ddlRecordKey, ddlRecordsNs } from '../coordinators/ddl-records.js'
import type { DatabasePlacement } from '../host/host.js'
import type { PlacementState } from './placement-state.js'

/** Collections of records, and the field with the namespace. */
const recordFields: ReadonlyMap<string, string> = new Map([
  ['config.migrationCoordinators', 'nss'],
  ['config.localReshardingOperations.donor', 'ns'],
  ['config.localReshardingOperations.recipient', 'ns'],
])
/** Of a command that waits for placements, or for the data under them. */
export interface Admission {
  readonly ns: string
  /** A placement that it may have used was dropped. */
  readonly isOutdated: boolean
}

const flushOptions = { timeoutMs: 30_000, attemptsMax: 4 }

export class SecondaryPlacements {
  readonly #node: NodeHost
  readonly #placements: PlacementState
  readonly #stores: readonly (readonly [RecordStore, field: string])[]
  readonly #ddl: RecordStore
  /** Collections and databases with records; null: not read yet. */
  #recorded: ReadonlySet<string> | null = null
  /**
   * By collection or database: the newest entry that the primary had under a placement that this
   * member has used. Missing: a majority has that entry and this member has it, too.
   */
  readonly #required = new Map<string, TimestampPair>()
  readonly #admissions = new Set<{ ns: string; isOutdated: boolean }>()

  constructor(node: NodeHost, placements: PlacementState) {
    this.#node = node
    this.#placements = placements
    this.#stores = [...recordFields].map(([ns, field]) => [new RecordStore(node, ns), field] as const)
    this.#ddl = new RecordStore(node, ddlRecordsNs)
  }

  /** Whether the primary may be changing the placement now. */
  isUnsettled(ns: string): boolean {
    this.#recorded ??= this.#readRecords()
    return this.#recorded.size > 0 && (this.#recorded.has(ns) || this.#recorded.has(databaseNameOf(ns)))
  }

  /** Call it after each entry of the primary. */
  applied(entry: LogEntry): void {
    if (entry.op === 'c') for (const name of namesOf(entry)) this.#drop(name)
    if (!recordFields.has(entry.ns) && entry.ns !== ddlRecordsNs) return
    const before = this.#recorded ?? []
    this.#recorded = this.#readRecords()
    for (const name of new Set([...before, ...this.#recorded])) this.#drop(name)
  }

  /** As the catalog has it at a time after the call. @throws CommandError 133 */
  collectionNow(ns: string): Promise<CollectionPlacement | null> {
    return this.#placements.refreshCollectionAnew(ns)
  }

  /** As {@link collectionNow}. */
  databaseNow(db: string): Promise<DatabasePlacement | null> {
    return this.#placements.refreshDatabaseAnew(db)
  }

  /**
   * Call it between the reply of the config server and the use of the placement.
   * @throws CommandError the primary does not answer, or cannot refresh the placement
   */
  async flush(name: string): Promise<void> {
    const { context } = this.#node
    try {
      const reply = await repeatedRequest(context, context.address, 'shard.flush-placement', { name }, flushOptions)
      raiseError(reply.error)
      this.#forgetReached()
      this.#required.set(name, later(reply.appliedTs, this.#required.get(name)))
    } catch (error) {
      throw error instanceof RequestFailedError ? requestFailure(error) : error
    }
  }

  /** Whether this member has what its primary had under the placements of the namespace. */
  hasData(ns: string, { concerns }: Entrant): boolean {
    if (this.#required.size === 0) return true
    const { set } = this.#node
    const has = concerns.read.level === 'majority' ? set.committedTs : set.appliedTs
    return compareTimestamps(has, this.#requiredOf(ns)) >= 0
  }

  /** Call {@link endAdmission} later. */
  beginAdmission(ns: string): Admission {
    const admission = { ns, isOutdated: false }
    this.#admissions.add(admission)
    return admission
  }

  endAdmission(admission: Admission): void {
    this.#admissions.delete(admission)
  }

  /** Waits until this member {@link hasData}. @throws CommandError 50, or that of a kill */
  async awaitData(ns: string, { host, concerns, operation }: Entrant): Promise<void> {
    if (!(operation instanceof RunningOperation)) throw new Error('only commands read on a secondary')
    const { set, parameters } = this.#node
    const ts = this.#requiredOf(ns)
    const patienceMs = parameters.number('waitForSecondaryBeforeNoopWriteMS')
    await inTime({ host, operation }, async (signal) => {
      await set.awaitApplied(ts, signal, patienceMs)
      if (concerns.read.level === 'majority') await set.awaitCommitted(ts, signal)
    })
  }

  #requiredOf(ns: string): TimestampPair {
    return later(this.#required.get(ns) ?? [0, 0], this.#required.get(databaseNameOf(ns)))
  }

  #forgetReached(): void {
    const { appliedTs, committedTs } = this.#node.set
    for (const [name, ts] of this.#required)
      if (compareTimestamps(committedTs, ts) >= 0 && compareTimestamps(appliedTs, ts) >= 0) this.#required.delete(name)
  }

  #readRecords(): Set<string> {
    const names = new Set<string>()
    for (const [store, field] of this.#stores)
      for (const document of store.all()) names.add(findField(document, field)!.asString())
    for (const document of this.#ddl.all()) {
      names.add(ddlRecordKey(document).ns)
      const to = findField(document, 'to')?.asString()
      if (to !== undefined) names.add(to)
    }
    return names
  }

  #drop(name: string): void {
    const isDatabase = !name.includes('.')
    if (isDatabase) this.#placements.forgetDatabase(name)
    else this.#placements.forgetCollection(name)
    for (const admission of this.#admissions)
      if (admission.ns === name || (isDatabase && databaseNameOf(admission.ns) === name)) admission.isOutdated = true
  }
}

function later(a: TimestampPair, b: TimestampPair | undefined): TimestampPair {
  return b !== undefined && compareTimestamps(b, a) > 0 ? b : a
}

/** The collections or the database that the entry creates, drops or renames. */
function namesOf({ ns, object }: LogEntry): string[] {
  const command = firstFieldName(object)
  const db = databaseNameOf(ns)
  const name = (field: string): string => findField(object, field)!.asString()
  if (command === 'create' || command === 'drop') return [`${db}.${name(command)}`]
  if (command === 'renameCollection') return [name(command), name('to')]
  return command === 'dropDatabase' ? [db] : []
}
