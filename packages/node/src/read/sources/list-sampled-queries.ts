import { CommandError, findField } from '@shardlab/bson'
import { listSource, checkAnalysedNamespace } from '@shardlab/member'
import type { NodeStageSource } from './source.js'

export const sampledQueriesNs = 'config.sampledQueries'

/** Server: document_source_list_sampled_queries.cpp. */
export const listSampledQueriesSource: NodeStageSource = {
  name: '$listSampledQueries',
  open({ invocation: { host }, ns, argument }) {
    if (!ns.startsWith('admin.$cmd'))
      throw new CommandError(
        'InvalidNamespace',
        "$listSampledQueries must be run against the 'admin' database with {aggregate: 1}",
      )
    const wanted = findField(argument.bytes, 'namespace', argument.start)
    if (wanted !== undefined) checkAnalysedNamespace(wanted.asString())
    const documents: Uint8Array[] = []
    const records = host.collection(sampledQueriesNs)?.scan()
    for (let record = records?.next() ?? null; record !== null; record = records!.next()) {
      if (wanted === undefined || findField(record.document, 'ns')?.asString() === wanted.asString())
        documents.push(record.document)
    }
    return listSource(documents)
  },
}
