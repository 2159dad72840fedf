/** Server: counters.cpp, top.cpp. */
import { findField, firstFieldName, type CommandError } from '@shardlab/bson'
import type { LogEntry } from '@shardlab/storage'
import { databaseNameOf, MemberStatistics } from '@shardlab/member'
import { QueryEffort } from './query-effort.js'
import { CollectionUsage } from './usage.js'

export class NodeStatistics extends MemberStatistics {
  /** Counted from log entries; `returned` by cursors. */
  readonly documents = { deleted: 0, inserted: 0, returned: 0, updated: 0 }
  readonly queries = new QueryEffort()
  readonly usage = new CollectionUsage()

  override commandEnds(name: string, ns: string | null, durationMs: number, error: CommandError | null): void {
    super.commandEnds(name, ns, durationMs, error)
    if (ns !== null) this.usage.add(ns, name, durationMs * 1000)
  }

  /** A drop removes the counters of its collection. */
  changed({ op, ns, object }: Pick<LogEntry, 'op' | 'ns' | 'object'>): void {
    if (op === 'i') this.documents.inserted++
    else if (op === 'u') this.documents.updated++
    else if (op === 'd') this.documents.deleted++
    else if (op === 'c' && firstFieldName(object) === 'drop') {
      const dropped = `${databaseNameOf(ns)}.${findField(object, 'drop')!.asString()}`
      this.usage.dropped(dropped)
    }
  }
}
