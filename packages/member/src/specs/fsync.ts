import type { CommandSpec } from './command-spec.js'

export const fsyncSpec = {
  name: 'fsync',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/fsync',
  fields: { lock: 'any', fsyncLockAcquisitionTimeoutMillis: 'number', async: 'any' },
} as const satisfies CommandSpec
