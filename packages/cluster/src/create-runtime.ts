import { createInlineRuntime, createThreadsRuntime, type InlineRuntimeOptions, type Runtime } from '@shardlab/runtime'
import type { ResolvedOptions } from './resolved-options.js'
import { loadRoles } from './roles.js'

export async function createRuntime(
  options: ResolvedOptions,
  { outside, completeReply }: Required<Pick<InlineRuntimeOptions, 'outside' | 'completeReply'>>,
): Promise<Runtime> {
  const { runtime, seed, clock, autoAdvance } = options
  if (runtime === 'inline')
    return createInlineRuntime({ roles: await loadRoles(), seed, outside, completeReply, clock, autoAdvance })
  return createThreadsRuntime({
    workerEntry: new URL('./workers/entry.js', import.meta.url),
    seed,
    outside,
    ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
  })
}
