import type { ConfigVersion } from '../config/replica-set-config.js'
import type { HeartbeatReply } from '../messages.js'
import { compareOpTimes, nullTimedOpTime, uninitializedTerm, type TimedOpTime, type Timestamp } from '../optime.js'
import type { MemberState } from './member-state.js'
import { PingStatistics } from './ping-statistics.js'

/** How far a member is. */
interface Progress {
  readonly applied: TimedOpTime
  readonly durable: TimedOpTime
}

const noProgress: Progress = { applied: nullTimedOpTime, durable: nullTimedOpTime }

/**
 * What this member knows of one member of the set, itself included. Server: member_data.cpp.
 */
export class MemberView {
  readonly id: number
  readonly host: string
  readonly ping = new PingStatistics()
  state: MemberState = 'UNKNOWN'
  /** Null: no heartbeat has completed. */
  health: 0 | 1 | null = null
  upSinceMs = 0
  /** The end of the last heartbeat to it, replied to or failed. 0: none. */
  lastHeartbeatMs = 0
  /** The last heartbeat from it. 0: none. */
  lastHeartbeatReceivedMs = 0
  lastHeartbeatMessage = ''
  term = uninitializedTerm
  config: ConfigVersion = { version: 0, term: uninitializedTerm }
  electable = false
  syncingTo: string | null = null
  electionTime: Timestamp | null = null
  /** Of its last heartbeat. Goes back when the member rolls back. */
  reported: Progress = noProgress
  /** The highest ever reported, by heartbeat or along the sync chain. */
  applied: TimedOpTime = nullTimedOpTime
  durable: TimedOpTime = nullTimedOpTime
  /** The last sign of life. */
  lastUpdateMs = 0
  /** No sign of life within the election timeout. */
  silent = false
  /** A heartbeat has completed since {@link awaitHeartbeat}. */
  wasChecked = false

  constructor(id: number, host: string) {
    this.id = id
    this.host = host
  }

  get up(): boolean {
    return this.health === 1
  }

  alive(nowMs: number): void {
    this.lastUpdateMs = nowMs
    this.silent = false
  }

  awaitHeartbeat(nowMs: number): void {
    this.wasChecked = false
    this.alive(nowMs)
  }

  /** @returns whether the member has advanced */
  heartbeat(reply: HeartbeatReply, nowMs: number): boolean {
    if (this.upSinceMs === 0) this.upSinceMs = nowMs
    this.health = 1
    this.lastHeartbeatMs = nowMs
    this.lastHeartbeatMessage = ''
    this.wasChecked = true
    this.alive(nowMs)
    this.state = reply.state
    this.term = reply.term
    this.config = reply.config
    this.electable = reply.electable
    this.syncingTo = reply.syncingTo
    if (reply.electionTime !== null) this.electionTime = reply.electionTime
    this.reported = reply
    return this.advance(reply, nowMs)
  }

  down(message: string, nowMs: number): void {
    this.health = 0
    this.upSinceMs = 0
    this.lastHeartbeatMs = nowMs
    this.lastHeartbeatMessage = message
    this.wasChecked = true
    this.state = 'DOWN'
    this.electable = false
    this.syncingTo = null
    this.electionTime = null
    this.reported = noProgress
  }

  /** @returns whether anything is newer than what was known */
  advance({ applied, durable }: Progress, nowMs: number): boolean {
    this.alive(nowMs)
    const appliedAdvanced = compareOpTimes(applied.optime, this.applied.optime) > 0
    const durableAdvanced = compareOpTimes(durable.optime, this.durable.optime) > 0
    if (appliedAdvanced) this.applied = applied
    if (durableAdvanced) this.durable = durable
    return appliedAdvanced || durableAdvanced
  }
}
