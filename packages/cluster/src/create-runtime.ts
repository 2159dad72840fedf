import {
  createInlineRuntime,
  createThreadsRuntime,
  type InlineRuntime,
  type InlineRuntimeOptions,
  type Runtime,
} from '@shardlab/runtime'
import { OptionError } from './option-error.js'
import type { ResolvedOptions } from './resolved-options.js'
import { loadRoles } from './roles.js'

/** @param id names the cluster on a NATS server */
export async function createRuntime(
  id: string,
  options: ResolvedOptions,
  hooks: Required<Pick<InlineRuntimeOptions, 'outside' | 'completeReply'>> &
    Partial<Pick<InlineRuntimeOptions, 'disks' | 'seed'>>,
): Promise<Runtime> {
  const { runtime, clock, autoAdvance, nats } = options
  if (nats !== null) {
    const { createRuntimeOnNats } = await import('./nats/create-nats-runtime.js')
    return createRuntimeOnNats(id, nats, options, hooks)
  }
  const given = { seed: options.seed, ...hooks }
  if (runtime === 'inline') return createInlineRuntime({ ...given, roles: await loadRoles(), clock, autoAdvance })
  return createThreadsRuntime({
    workerEntry: new URL('./workers/entry.js', import.meta.url),
    ...given,
    ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
  })
}

/** @throws OptionError the clock is not manual */
export function manualRuntime(runtime: Runtime, { clock }: ResolvedOptions): InlineRuntime {
  if (clock === 'manual') return runtime as InlineRuntime
  throw new OptionError(
    "only a manual clock can be advanced: start the cluster with runtime: 'inline' and clock: 'manual'.",
  )
}
