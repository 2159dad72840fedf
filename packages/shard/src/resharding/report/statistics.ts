/** For serverStatus. */
import type { DocumentWriter } from '@shardlab/bson'
import { reshardingSectionOf, type ReceivedInResharding } from '@shardlab/node'
import type { ReshardingRecipient } from '../participant/resharding-recipient.js'
import { donorState, recipientState } from './operations.js'
import type { ReshardingReportHost } from './report-host.js'

export function writeReshardingStatistics({ node, reshardings }: ReshardingReportHost, writer: DocumentWriter): void {
  reshardings.statistics.write(writer, node.behaviours.reshardingStatistics, (name) => {
    const mine = [...reshardings.all()].filter(({ facts }) => reshardingSectionOf(facts.provenance) === name)
    return {
      received: mine.flatMap(({ recipient }) => (recipient === null ? [] : [receivedBy(recipient)])),
      states: mine.flatMap((each) => [
        ...(each.donor === null ? [] : [`Donor ${donorState(each)}`]),
        ...(each.recipient === null ? [] : [`Recipient ${recipientState(each.recipient)}`]),
      ]),
    }
  })
}

export function receivedBy({ copied, copiedBytes, fetched, documents }: ReshardingRecipient): ReceivedInResharding {
  return {
    documents: copied,
    bytes: copiedBytes,
    fetched,
    inserts: Math.max(0, (documents?.inserted ?? 0) - copied),
    updates: documents?.updated ?? 0,
    deletes: documents?.deleted ?? 0,
    waits: documents?.waits ?? 0,
  }
}
