import {
  nullTimedOpTime,
  ReplicationCoordinator,
  type Effect,
  type HeartbeatReply,
  type ReplicaSetConfig,
  type ReplicationRules,
  type TimedOpTime,
} from '@shardlab/replication'
import { currentRules } from './random-run.js'

export const at = (seconds: number, term: number, increment = 1): TimedOpTime => ({
  optime: { ts: [seconds, increment], term },
  wallMs: seconds * 1000,
})

export const secondaryReply = (changes: Partial<HeartbeatReply> = {}): HeartbeatReply => ({
  setName: 'rs',
  state: 'SECONDARY',
  term: 0,
  config: { version: 1, term: 0 },
  newerConfig: null,
  primaryId: null,
  syncingTo: null,
  electionTime: null,
  electable: true,
  applied: at(1, 0),
  durable: at(1, 0),
  committed: nullTimedOpTime,
  ...changes,
})

/** One coordinator whose peers the test plays. */
export class LoneMember {
  readonly coordinator: ReplicationCoordinator
  nowMs = 1000
  effects: Effect[] = []

  constructor(config: ReplicaSetConfig, index = 0, rules: ReplicationRules = currentRules) {
    this.coordinator = new ReplicationCoordinator({
      setName: 'rs',
      selfHost: config.members[index]!.host,
      rules,
      random: () => 0,
      clusterTime: () => [Math.floor(this.nowMs / 1000), 1],
    })
    const last = config.members[index]!.arbiterOnly ? nullTimedOpTime : at(1, 0)
    this.coordinator.start(this.nowMs, { config, vote: null, last })
    if (!config.members[index]!.arbiterOnly) this.coordinator.setFollowerMode(this.nowMs, 'SECONDARY')
    this.take()
  }

  take(): Effect[] {
    const effects = this.coordinator.takeEffects()
    this.effects.push(...effects)
    return effects
  }

  of<K extends Effect['kind']>(kind: K): Extract<Effect, { kind: K }>[] {
    return this.effects.filter((effect): effect is Extract<Effect, { kind: K }> => effect.kind === kind)
  }

  /** Runs all timers up to then; every heartbeat is answered at once by `reply`. */
  advanceTo(nowMs: number, reply: (host: string) => HeartbeatReply | null): void {
    for (;;) {
      this.#answerHeartbeats(reply)
      const next = this.coordinator.nextTimerMs
      if (next === null || next > nowMs) break
      this.nowMs = Math.max(this.nowMs, next)
      this.coordinator.tick(this.nowMs)
    }
    this.nowMs = nowMs
  }

  #answerHeartbeats(reply: (host: string) => HeartbeatReply | null): void {
    for (const effect of this.take()) {
      if (effect.kind !== 'heartbeat') continue
      const answer = reply(effect.to)
      if (answer === null) this.coordinator.heartbeatFailed(this.nowMs, effect.id, effect.to, 'unreachable')
      else this.coordinator.heartbeatReplied(this.nowMs, effect.id, effect.to, answer)
    }
    this.take()
  }

  /** Wins an election: stores votes, grants all requests, drains, and writes the first entry. */
  becomePrimary(reply: (host: string) => HeartbeatReply | null = () => secondaryReply()): void {
    this.advanceTo(this.nowMs, () => secondaryReply())
    this.coordinator.stepUp(this.nowMs, 'stepUpRequestSkipDryRun')
    this.finishElection(reply)
  }

  finishElection(reply: (host: string) => HeartbeatReply | null): void {
    const { coordinator } = this
    for (let effects = this.take(); effects.length > 0; effects = this.take()) {
      for (const effect of effects) {
        if (effect.kind === 'store-vote') coordinator.voteStored(this.nowMs, effect.vote.term)
        else if (effect.kind === 'request-vote') {
          coordinator.voteReplied(this.nowMs, effect.id, { term: effect.request.term, granted: true, reason: '' })
        } else if (effect.kind === 'store-config') coordinator.configStored(this.nowMs)
        else if (effect.kind === 'drain') coordinator.drained(this.nowMs, effect.term)
        else if (effect.kind === 'write-first-entry') {
          const entry = at(Math.floor(this.nowMs / 1000), effect.term)
          coordinator.progress(this.nowMs, entry, entry)
          coordinator.firstEntryWritten(this.nowMs, entry.optime)
        } else if (effect.kind === 'heartbeat') {
          const answer = reply(effect.to)
          if (answer === null) coordinator.heartbeatFailed(this.nowMs, effect.id, effect.to, 'unreachable')
          else coordinator.heartbeatReplied(this.nowMs, effect.id, effect.to, answer)
        }
      }
      if ((coordinator.nextTimerMs ?? Infinity) <= this.nowMs) coordinator.tick(this.nowMs)
    }
  }
}
