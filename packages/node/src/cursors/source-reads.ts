/**
 * Server: requires_collection_stage.cpp, requires_index_stage.cpp; until 4.0
 * `CursorManager::invalidateAll`.
 */
import { CommandError, sameBytes } from '@shardlab/bson'
import { stagesOf, type Collection, type QueryPlan, type StorageEngine } from '@shardlab/storage'
import { uuidText } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import { liveNode } from '../read/snapshots/live-node.js'

export interface Collections {
  readonly behaviours: Behaviours
  readonly engine: StorageEngine
  readable(ns: string): Collection | undefined
}

export class SourceReads {
  /** Namespace when the cursor was opened. */
  readonly ns: string
  readonly uuid: Uint8Array
  /** By the ownership when the cursor was opened. */
  readonly leavesOutOrphans: boolean
  readonly #host: Collections
  readonly #indexes: ReadonlySet<string>
  #killed: CommandError | null = null

  constructor(
    host: Collections,
    { ns, uuid }: Collection,
    indexes: ReadonlySet<string> = new Set(),
    leavesOutOrphans = false,
  ) {
    // A drop ends cursors with a past snapshot, too.
    this.#host = liveNode(host)
    this.ns = ns
    this.uuid = uuid
    this.leavesOutOrphans = leavesOutOrphans
    this.#indexes = indexes
  }

  static ofPlan(host: Collections, { collection, root }: QueryPlan): SourceReads {
    const stages = stagesOf(root)
    return new SourceReads(
      host,
      collection,
      new Set(stages.flatMap((stage) => ('scan' in stage ? [stage.scan.entry.index.name] : []))),
      stages.some((stage) => 'shardFilter' in stage && stage.shardFilter !== null),
    )
  }

  isOf({ uuid }: Collection): boolean {
    return sameBytes(this.uuid, uuid)
  }

  scans(index: string): boolean {
    return this.#indexes.has(index)
  }

  kill(error: CommandError): void {
    this.#killed ??= error
  }

  /**
   * @throws CommandError 175 QueryPlanKilled when the collection or a scanned index is gone; before
   * 4.4 the error passed to {@link kill}
   */
  check(): void {
    if (this.#host.behaviours.cursorsFollowTheirCollection) this.#checkCollection()
    if (this.#killed !== null) throw this.#killed
  }

  #checkCollection(): void {
    const live = this.#host.readable(this.ns)
    if (live !== undefined && this.isOf(live)) return
    const moved = this.#host.engine.collections().find((each) => this.isOf(each))
    if (moved === undefined)
      throw new CommandError('QueryPlanKilled', `collection dropped. UUID ${uuidText(this.uuid)}`)
    throw new CommandError(
      'QueryPlanKilled',
      `collection renamed from '${this.ns}' to '${moved.ns}'. UUID ${uuidText(this.uuid)}`,
    )
  }
}
