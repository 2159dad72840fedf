/** Answers the messages of other members. */
import type { ClusterClock, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { compareTimestamps, endOfTime, type ReplicationRules } from '@shardlab/replication'
import {
  heartbeatOf,
  heartbeatRefusal,
  heartbeatReplyFields,
  metadataFields,
  opTimeFields,
  opTimeOf,
  reportOf,
  voteOf,
} from './message-fields.js'
import { ignoreFullDisk, persist } from './persist.js'
import type { ProtocolParts } from './protocol-parts.js'
import type { SetWaits } from './set-waits.js'
import { documentOfVote } from './vote-document.js'

export class MessageAnswers {
  readonly #set: ProtocolParts
  readonly #waits: SetWaits
  readonly #rules: ReplicationRules
  readonly #clock: ClusterClock
  /** Vote requests that wait for the end of a step-down. */
  #afterStepDown: (() => void)[] = []

  constructor(set: ProtocolParts, waits: SetWaits, rules: ReplicationRules, clock: ClusterClock) {
    this.#set = set
    this.#clock = clock
    this.#waits = waits
    this.#rules = rules
  }

  steppedDown(): void {
    for (const retry of this.#afterStepDown.splice(0)) retry()
  }

  /** Answers a message of another member; null: not a message of the protocol. */
  receive(kind: MessageKind, request: unknown): Promise<unknown> | object | null {
    switch (kind) {
      case 'replication.heartbeat':
        return this.#answerHeartbeat(request as RequestOf<'replication.heartbeat'>)
      case 'replication.request-vote':
        return this.#vote(request as RequestOf<'replication.request-vote'>)
      case 'replication.report-positions':
        return this.#receivePositions(request as RequestOf<'replication.report-positions'>)
      case 'replication.fetch':
        return this.#serveFetch(request as RequestOf<'replication.fetch'>)
      case 'replication.positions-before':
        return this.#positionsBefore(request as RequestOf<'replication.positions-before'>)
      case 'replication.clone':
        return this.#serveClone(request as RequestOf<'replication.clone'>)
      case 'replication.append-note':
        return this.#appendNote(request as RequestOf<'replication.append-note'>)
      case 'replication.step-up':
        this.#set.coordinator.stepUp(this.#set.nowMs, 'stepUpRequestSkipDryRun')
        this.#set.carryOut()
        return {}
      case 'replication.find-primary':
        return this.#findPrimary()
      case 'replication.member-state':
        return this.#memberState()
      default:
        return null
    }
  }

  #answerHeartbeat(fields: RequestOf<'replication.heartbeat'>): ReplyOf<'replication.heartbeat'> {
    const reply = this.#set.coordinator.answerHeartbeat(this.#set.nowMs, heartbeatOf(fields))
    this.#set.carryOut()
    return typeof reply === 'string' ? heartbeatRefusal(reply) : heartbeatReplyFields(reply, this.#rules)
  }

  async #vote(fields: RequestOf<'replication.request-vote'>): Promise<ReplyOf<'replication.request-vote'>> {
    const { coordinator } = this.#set
    const asked = voteOf(fields)
    const request = this.#set.context.mutated('voteFreshnessOff') ? { ...asked, lastApplied: endOfTime } : asked
    if (this.#set.context.mutated('voteRecordOff')) coordinator.state.lastVote = { term: -1, candidateIndex: -1 }
    let reply = coordinator.answerVoteRequest(this.#set.nowMs, request)
    this.#set.carryOut()
    while (reply === null) {
      await new Promise<void>((resolve) => this.#afterStepDown.push(resolve))
      reply = coordinator.answerVoteRequest(this.#set.nowMs, request)
      this.#set.carryOut()
    }
    // A candidate must not count a vote that this member could give again after a crash.
    if (reply.granted && !request.dryRun) {
      const vote = documentOfVote(coordinator.state.lastVote)
      await persist(this.#set.context, () => this.#set.log.storeVote(vote))
    }
    return reply
  }

  #receivePositions(fields: RequestOf<'replication.report-positions'>): ReplyOf<'replication.report-positions'> {
    const isKnown = this.#set.coordinator.positionsReceived(this.#set.nowMs, reportOf(fields))
    this.#set.carryOut()
    return { isKnown }
  }

  async #serveFetch(request: RequestOf<'replication.fetch'>): Promise<ReplyOf<'replication.fetch'>> {
    const { coordinator, log } = this.#set
    coordinator.readerRequested(this.#set.nowMs, request.term)
    this.#set.carryOut()
    const after = opTimeOf(request.after)
    let found = log.entriesAfter(after, request.bytesMax)
    const { committed } = coordinator
    let { durable } = log
    if (this.#isSource && found.outcome === 'entries' && found.entries.length === 0 && request.awaitMs > 0) {
      // A new commit point is news for the reader, too.
      await this.#waits.within(request.awaitMs, () => {
        // Asked after every message of the protocol.
        if (log.durable === durable && coordinator.committed === committed && this.#isSource) return null
        durable = log.durable
        found = log.entriesAfter(after, request.bytesMax)
        const isNews = found.outcome !== 'entries' || found.entries.length > 0 || coordinator.committed !== committed
        return isNews || !this.#isSource ? true : null
      })
    }
    const metadata = metadataFields(coordinator.sourceMetadata())
    if (!this.#isSource) return { ...metadata, outcome: 'no-source', entries: noEntries }
    return { ...metadata, outcome: found.outcome, entries: found.outcome === 'entries' ? found.entries : noEntries }
  }

  get #isSource(): boolean {
    const { memberState } = this.#set.coordinator
    return memberState === 'PRIMARY' || memberState === 'SECONDARY'
  }

  #positionsBefore({
    before,
    count,
  }: RequestOf<'replication.positions-before'>): ReplyOf<'replication.positions-before'> {
    const end = before === null ? null : opTimeOf(before)
    const positions = []
    const oplog = this.#set.log.positionsBackwards()
    for (let next = oplog.next(); next.done !== true && positions.length < count; next = oplog.next()) {
      const { ts } = next.value
      if (end === null || ts[0] < end.ts[0] || (ts[0] === end.ts[0] && ts[1] < end.ts[1]))
        positions.push(opTimeFields(next.value))
    }
    return { positions }
  }

  #serveClone({ term }: RequestOf<'replication.clone'>): ReplyOf<'replication.clone'> {
    const { coordinator, log } = this.#set
    coordinator.readerRequested(this.#set.nowMs, term)
    this.#set.carryOut()
    const metadata = metadataFields(coordinator.sourceMetadata())
    return { ...metadata, image: this.#isSource ? log.image(coordinator.committed.optime) : null }
  }

  #appendNote({
    after: [seconds, increment],
  }: RequestOf<'replication.append-note'>): ReplyOf<'replication.append-note'> {
    const { context, coordinator, log } = this.#set
    if (!coordinator.isWritablePrimary) return { isAppended: false }
    if (compareTimestamps(log.last.optime.ts, [seconds, increment]) < 0) {
      this.#clock.advance([seconds, increment])
      log.appendNoop('noop write for afterClusterTime read concern')
      // On a full disk the entry waits for the next write.
      context.detach(log.flush().catch(ignoreFullDisk))
    }
    return { isAppended: true }
  }

  #memberState(): ReplyOf<'replication.member-state'> {
    const { coordinator, log } = this.#set
    const { selfConfig, memberState } = coordinator.state
    const tags = new DocumentWriter(64)
    for (const [name, value] of selfConfig?.tags ?? []) tags.string(name, value)
    const isSecondary = memberState === 'SECONDARY' && selfConfig?.hidden !== true
    return {
      state: coordinator.isWritablePrimary ? 'primary' : isSecondary ? 'secondary' : 'other',
      tags: tags.finish(),
      lastWriteMs: log.last.wallMs,
    }
  }

  #findPrimary(): ReplyOf<'replication.find-primary'> {
    const { coordinator } = this.#set
    const { primary, term } = coordinator.state
    return { isWritable: coordinator.isWritablePrimary, term, primary: primary?.host ?? null }
  }
}

const noEntries = new Uint8Array(0)
