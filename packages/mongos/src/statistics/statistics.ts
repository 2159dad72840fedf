/** Server: num_hosts_targeted_metrics.cpp, counters.cpp. */
import type { DocumentWriter } from '@shardlab/bson'
import { MemberStatistics } from '@shardlab/member'

/** The share of the shards that own chunks. */
export type TargetedHosts = 'allShards' | 'manyShards' | 'oneShard' | 'unsharded'
const targetedHosts: readonly TargetedHosts[] = ['allShards', 'manyShards', 'oneShard', 'unsharded']

/** In the order of serverStatus. */
const countedCommands = ['find', 'insert', 'update', 'delete', 'aggregate'] as const
export type CountedCommand = (typeof countedCommands)[number]

export class Statistics extends MemberStatistics {
  readonly #targeted = {
    find: noTargets(),
    insert: noTargets(),
    update: noTargets(),
    delete: noTargets(),
    aggregate: noTargets(),
  }

  countTargeted(command: CountedCommand, hosts: TargetedHosts): void {
    this.#targeted[command][hosts]++
  }

  writeTargeted(writer: DocumentWriter): DocumentWriter {
    writer.startDocument('numHostsTargeted')
    for (const command of countedCommands) {
      writer.startDocument(command)
      for (const hosts of targetedHosts) writer.int64(hosts, this.#targeted[command][hosts])
      writer.end()
    }
    return writer.end()
  }
}

function noTargets(): Record<TargetedHosts, number> {
  return { allShards: 0, manyShards: 0, oneShard: 0, unsharded: 0 }
}
