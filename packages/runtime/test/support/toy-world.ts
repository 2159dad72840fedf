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
