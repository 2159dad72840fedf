/** `local.replset.election`. Server: last_vote.cpp. */
import { DocumentWriter, findField } from '@shardlab/bson'
import type { Vote } from '@shardlab/replication'

export const documentOfVote = ({ term, candidateIndex }: Vote): Uint8Array =>
  new DocumentWriter(64).int64('term', BigInt(term)).int64('candidateIndex', BigInt(candidateIndex)).finish()

export const voteOfDocument = (document: Uint8Array): Vote => ({
  term: findField(document, 'term')!.asNumber(),
  candidateIndex: findField(document, 'candidateIndex')!.asNumber(),
})
