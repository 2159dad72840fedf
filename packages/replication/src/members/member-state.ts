/** States of members by their names. Server: member_state.h; manual: reference/replica-states. */
export const memberStates = {
  STARTUP: 0,
  PRIMARY: 1,
  SECONDARY: 2,
  RECOVERING: 3,
  STARTUP2: 5,
  UNKNOWN: 6,
  ARBITER: 7,
  DOWN: 8,
  ROLLBACK: 9,
  REMOVED: 10,
} as const

export type MemberState = keyof typeof memberStates

/** States of a member that has data and is not primary. The member itself sets them. */
export type FollowerMode = 'STARTUP2' | 'SECONDARY' | 'RECOVERING' | 'ROLLBACK'

/** Members in these states serve reads and are sync sources. */
export const isReadable = (state: MemberState): boolean => state === 'PRIMARY' || state === 'SECONDARY'
