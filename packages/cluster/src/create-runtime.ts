import { createInlineRuntime, createThreadsRuntime, type InlineRuntimeOptions, type Runtime } from '@shardlab/runtime'
import type { ResolvedOptions } from './resolved-options.js'
import { loadRoles } from './roles.js'

export async function createRuntime(
  options: ResolvedOptions,
  hooks: Required<Pick<InlineRuntimeOptions, 'outside' | 'completeReply'>> &
    Partial<Pick<InlineRuntimeOptions, 'disks' | 'seed'>>,
): Promise<Runtime> {
  const { runtime, clock, autoAdvance } = options
  const given = { seed: options.seed, ...hooks }
  if (runtime === 'inline') return createInlineRuntime({ ...given, roles: await loadRoles(), clock, autoAdvance })
  return createThreadsRuntime({
    workerEntry: new URL('./workers/entry.js', import.meta.url),
    ...given,
    ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
  })
}
