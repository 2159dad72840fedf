/** What hello says about the set. Server: TopologyCoordinator::fillHelloForReplSet. */
import { isElectable, priorityOf, type MemberConfig } from '../config/replica-set-config.js'
import type { ProtocolState } from '../state/protocol-state.js'

export interface HelloFacts {
  readonly topologyCounter: number
  /** Null: no set name is known to clients, as before the set is initiated. */
  readonly set: {
    readonly name: string
    /** Null: removed from the set. */
    readonly member: {
      readonly hosts: readonly string[]
      readonly passives: readonly string[]
      readonly arbiters: readonly string[]
      readonly version: number
      /** Null: none known. */
      readonly primary: string | null
      readonly config: MemberConfig
      readonly isPassive: boolean
      /** Term of the election that made this member primary; null: it is not. */
      readonly electionTerm: number | null
    } | null
  } | null
  readonly isWritablePrimary: boolean
  readonly isSecondary: boolean
}

export function helloFacts(state: ProtocolState): HelloFacts {
  const { config, selfConfig, topologyCounter, leaderMode, memberState, electionTerm } = state
  const base = {
    topologyCounter,
    isWritablePrimary: leaderMode === 'writable',
    isSecondary: memberState === 'SECONDARY',
  }
  if (config === null) return { ...base, set: null }
  if (selfConfig === null) return { ...base, set: { name: config.name, member: null } }
  const shown = config.members.filter(({ hidden, delaySecs }) => !hidden && delaySecs === 0)
  const isHost = (member: MemberConfig) => isElectable(member)
  return {
    ...base,
    set: {
      name: config.name,
      member: {
        hosts: shown.filter(isHost).map(({ host }) => host),
        passives: shown.filter((member) => !isHost(member) && !member.arbiterOnly).map(({ host }) => host),
        arbiters: shown.filter(({ arbiterOnly }) => arbiterOnly).map(({ host }) => host),
        version: config.version,
        primary: state.primary?.host ?? null,
        config: selfConfig,
        isPassive: !selfConfig.arbiterOnly && priorityOf(selfConfig) === 0,
        electionTerm: state.isPrimary ? electionTerm : null,
      },
    },
  }
}
