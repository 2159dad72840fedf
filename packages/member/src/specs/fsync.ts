import type { CommandSpec } from './command-spec.js'
import { onCluster } from '../access/needs.js'

export const fsyncSpec = {
  name: 'fsync',
  access: 'admin',
  privileges: onCluster('fsync'),
  adminOnly: true,
  manual: 'reference/command/fsync',
  fields: { lock: 'any', fsyncLockAcquisitionTimeoutMillis: 'number', async: 'any' },
} as const satisfies CommandSpec
