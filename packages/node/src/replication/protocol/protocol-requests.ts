/** Sends the requests of the protocol to other members, and reports their replies to the core. */
import { RequestFailedError, type MessageKind, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { samePositions, type EffectOf, type ReplicationRules } from '@shardlab/replication'
import { heartbeatFields, heartbeatReplyOf, reportFields, voteFields } from './message-fields.js'
import type { ProtocolParts } from './protocol-parts.js'

const reportTimeoutMs = 5000

/** A reply that throws crashes the member. */
export class ProtocolRequests {
  readonly #set: ProtocolParts
  readonly #rules: ReplicationRules
  #isReporting = false

  constructor(set: ProtocolParts, rules: ReplicationRules) {
    this.#set = set
    this.#rules = rules
  }

  sendHeartbeat({ id, to, timeoutMs, request }: EffectOf<'heartbeat'>): void {
    const { coordinator } = this.#set
    this.#ask(to, 'replication.heartbeat', heartbeatFields(request), timeoutMs, (answer) => {
      const { nowMs } = this.#set
      if (typeof answer === 'string') coordinator.heartbeatFailed(nowMs, id, to, answer)
      else if (answer.refusal !== null) coordinator.heartbeatFailed(nowMs, id, to, answer.refusal)
      else coordinator.heartbeatReplied(nowMs, id, to, heartbeatReplyOf(answer, this.#rules))
    })
  }

  requestVote({ id, to, timeoutMs, request }: EffectOf<'request-vote'>): void {
    const { coordinator } = this.#set
    this.#ask(to, 'replication.request-vote', voteFields(request), timeoutMs, (answer) => {
      if (typeof answer === 'string') coordinator.voteFailed(this.#set.nowMs, id, answer)
      else coordinator.voteReplied(this.#set.nowMs, id, answer)
    })
  }

  /** Positions that change during a report are in the next one. */
  reportPosition(): void {
    const { coordinator } = this.#set
    const { syncSource } = coordinator.state
    if (this.#isReporting || syncSource === null) return
    this.#isReporting = true
    const report = coordinator.positionReport()
    this.#ask(syncSource, 'replication.report-positions', reportFields(report), reportTimeoutMs, () => {
      this.#isReporting = false
      if (!samePositions(report, coordinator.positionReport())) this.reportPosition()
    })
  }

  /**
   * Uses callbacks instead of `async` functions, because an idle set does little else than send
   * heartbeats.
   * @param answered called with the reply, or with why the request failed
   */
  #ask<K extends MessageKind>(
    to: string,
    kind: K,
    request: RequestOf<K>,
    timeoutMs: number,
    answered: (answer: ReplyOf<K> | string) => void,
  ): void {
    const { context } = this.#set
    const finish = (answer: ReplyOf<K> | string): void => {
      answered(answer)
      this.#set.carryOut()
    }
    const failed = (error: unknown): void => {
      if (!(error instanceof RequestFailedError)) throw error
      finish(error.message)
    }
    context.detach(context.request(to, kind, request, { pinned: true, timeoutMs }).then(finish, failed))
  }
}
