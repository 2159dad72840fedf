import type { CommandSpec } from './command-spec.js'
import { holdsOnCluster } from '../access/needs.js'

export const fsyncUnlockSpec = {
  name: 'fsyncUnlock',
  access: 'admin',
  privileges: (question) => holdsOnCluster(question, question.isRouter ? 'fsyncUnlock' : 'unlock'),
  adminOnly: true,
  manual: 'reference/command/fsyncUnlock',
} as const satisfies CommandSpec
