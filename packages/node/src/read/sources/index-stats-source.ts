import { DocumentWriter } from '@shardlab/bson'
import { listSource } from '@shardlab/member'
import type { NodeStageSource } from './source.js'

/** Server: document_source_index_stats.cpp, common_mongod_process_interface.cpp. */
export const indexStatsSource: NodeStageSource = {
  name: '$indexStats',
  open({ invocation: { host, routed }, ns }) {
    const indexes = host.collection(ns)?.indexes() ?? []
    return listSource(
      indexes.map(({ name, key, spec, usage }) => {
        const writer = new DocumentWriter(512)
          .string('name', name)
          .document('key', key)
          .string('host', host.context.endpoint)
          .startDocument('accesses')
          .int64('ops', usage.ops)
          // The usage of a recovered index counts from the restart.
          .date('since', Math.max(usage.sinceMs, host.startedAtMs))
          .end()
        if (routed !== null) writer.string('shard', host.role.memberName)
        return writer.document('spec', spec).finish()
      }),
    )
  },
}
