import type { Address, ClusterEvent } from '@shardlab/actor'
import type { MemberSpec, Runtime } from '../../src/index.js'
import { toyAnswer, toyRequest } from './toy-roles.js'

export function spec(address: Address, role: string, rest: Partial<MemberSpec> = {}): MemberSpec {
  return { address, role, options: null, listen: null, diskLimitBytes: 1024 * 1024, ...rest }
}

export async function ask(
  runtime: Runtime,
  to: Address,
  operation: string,
  argument: unknown = null,
): Promise<unknown> {
  return toyAnswer(await runtime.request(to, 'node.command', toyRequest(operation, argument)))
}

/** Call it before the event can happen. */
/** Resolves when the member's thread computes without end. */
export async function occupy(runtime: Runtime, member: Address): Promise<void> {
  await ask(runtime, member, 'occupy')
  for (;;) {
    const { reason } = await runtime
      .request(member, 'node.command', toyRequest('echo'), { timeoutMs: 50 })
      .then(() => ({ reason: null }))
      .catch((error: { reason: string }) => error)
    if (reason === 'timed-out') return
  }
}

export function nextEvent(runtime: Runtime, matches: (event: ClusterEvent) => boolean): Promise<ClusterEvent> {
  return new Promise((resolve) => {
    // Alarms alone do not keep a process alive.
    const alive = setInterval(() => {}, 1000)
    const unlisten = runtime.onEvent((event) => {
      if (!matches(event)) return
      clearInterval(alive)
      unlisten()
      resolve(event)
    })
  })
}
