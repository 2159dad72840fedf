/** The messages of the protocol as flat fields, and back. */
import type {
  MemberPositionTuple,
  OpTimeTuple,
  ReplyOf,
  RequestOf,
  SourceMetadataFields,
  TimedOpTimeTuple,
} from '@shardlab/actor'
import {
  configDocument,
  parseConfig,
  type HeartbeatReply,
  type HeartbeatRequest,
  type MemberState,
  type OpTime,
  type PositionReport,
  type ReplicationRules,
  type SourceMetadata,
  type TimedOpTime,
  type VoteRequest,
} from '@shardlab/replication'

export const opTimeFields = ({ ts, term }: OpTime): OpTimeTuple => [ts[0], ts[1], term]

export const opTimeOf = ([seconds, increment, term]: OpTimeTuple): OpTime => ({ ts: [seconds, increment], term })

export const timedFields = ({ optime: { ts, term }, wallMs }: TimedOpTime): TimedOpTimeTuple => [
  ts[0],
  ts[1],
  term,
  wallMs,
]

export const timedOf = ([seconds, increment, term, wallMs]: TimedOpTimeTuple): TimedOpTime => ({
  optime: { ts: [seconds, increment], term },
  wallMs,
})

export const heartbeatFields = ({
  setName,
  config,
  term,
  from,
  primaryId,
}: HeartbeatRequest): RequestOf<'replication.heartbeat'> => ({
  setName,
  configVersion: config.version,
  configTerm: config.term,
  term,
  fromId: from?.id ?? null,
  fromHost: from?.host ?? null,
  primaryId,
})

export const heartbeatOf = (fields: RequestOf<'replication.heartbeat'>): HeartbeatRequest => ({
  setName: fields.setName,
  config: { version: fields.configVersion, term: fields.configTerm },
  term: fields.term,
  from: fields.fromId === null ? null : { id: fields.fromId, host: fields.fromHost! },
  primaryId: fields.primaryId,
})

export function heartbeatReplyFields(reply: HeartbeatReply, rules: ReplicationRules): ReplyOf<'replication.heartbeat'> {
  const { setName, state, term, config, newerConfig, primaryId, syncingTo, electionTime, electable } = reply
  return {
    refusal: null,
    setName,
    state,
    term,
    configVersion: config.version,
    configTerm: config.term,
    newerConfig: newerConfig === null ? null : configDocument(newerConfig, rules),
    primaryId,
    syncingTo,
    electionTime,
    electable,
    applied: timedFields(reply.applied),
    durable: timedFields(reply.durable),
    committed: timedFields(reply.committed),
  }
}

const noPosition: TimedOpTimeTuple = [0, 0, -1, 0]

export const heartbeatRefusal = (refusal: string): ReplyOf<'replication.heartbeat'> => ({
  refusal,
  setName: '',
  state: 'UNKNOWN',
  term: -1,
  configVersion: 0,
  configTerm: -1,
  newerConfig: null,
  primaryId: null,
  syncingTo: null,
  electionTime: null,
  electable: false,
  applied: noPosition,
  durable: noPosition,
  committed: noPosition,
})

export function heartbeatReplyOf(fields: ReplyOf<'replication.heartbeat'>, rules: ReplicationRules): HeartbeatReply {
  const { setName, term, newerConfig, primaryId, syncingTo, electionTime, electable } = fields
  return {
    setName,
    state: fields.state as MemberState,
    term,
    config: { version: fields.configVersion, term: fields.configTerm },
    newerConfig: newerConfig === null ? null : parseConfig(newerConfig, rules).config,
    primaryId,
    syncingTo,
    electionTime,
    electable,
    applied: timedOf(fields.applied),
    durable: timedOf(fields.durable),
    committed: timedOf(fields.committed),
  }
}

export const voteFields = ({
  setName,
  dryRun,
  term,
  candidateIndex,
  config,
  lastApplied,
}: VoteRequest): RequestOf<'replication.request-vote'> => ({
  setName,
  dryRun,
  term,
  candidateIndex,
  configVersion: config.version,
  configTerm: config.term,
  lastApplied: opTimeFields(lastApplied),
})

export const voteOf = (fields: RequestOf<'replication.request-vote'>): VoteRequest => ({
  setName: fields.setName,
  dryRun: fields.dryRun,
  term: fields.term,
  candidateIndex: fields.candidateIndex,
  config: { version: fields.configVersion, term: fields.configTerm },
  lastApplied: opTimeOf(fields.lastApplied),
})

export const reportFields = ({ term, positions }: PositionReport): RequestOf<'replication.report-positions'> => ({
  term,
  positions: positions.map(({ memberId, configVersion, applied, durable }): MemberPositionTuple => [
    memberId,
    configVersion,
    timedFields(applied),
    timedFields(durable),
  ]),
})

export const reportOf = ({ term, positions }: RequestOf<'replication.report-positions'>): PositionReport => ({
  term,
  positions: positions.map(([memberId, configVersion, applied, durable]) => ({
    memberId,
    configVersion,
    applied: timedOf(applied),
    durable: timedOf(durable),
  })),
})

export const metadataFields = ({
  term,
  committed,
  lastApplied,
  isPrimary,
  primaryIndex,
  syncingTo,
}: SourceMetadata): SourceMetadataFields => ({
  term,
  committed: timedFields(committed),
  lastApplied: opTimeFields(lastApplied),
  isPrimary,
  primaryIndex,
  syncingTo,
})

export const metadataOf = ({
  term,
  committed,
  lastApplied,
  isPrimary,
  primaryIndex,
  syncingTo,
}: SourceMetadataFields): SourceMetadata => ({
  term,
  committed: timedOf(committed),
  lastApplied: opTimeOf(lastApplied),
  isPrimary,
  primaryIndex,
  syncingTo,
})
