import { RequestFailedError, type Address } from '@shardlab/actor'
import type { Runtime } from '@shardlab/runtime'

const timeoutMs = 1000

type AskedRuntime = Pick<Runtime, 'request' | 'resolve' | 'member'>

/**
 * The member of a set that accepts writes. Null: the set has no primary now.
 * @param set may be the address of a member that is its only one
 */
export async function primaryOf(runtime: AskedRuntime, set: Address): Promise<Address | null> {
  const members = runtime.resolve(set).filter((member) => runtime.member(member)?.state === 'running')
  if (runtime.resolve(set).length < 2) return members[0] ?? null
  const answers = await Promise.all(members.map((member) => termOf(runtime, member)))
  const newest = Math.max(...answers.map((term) => term ?? -1))
  return newest < 0 ? null : members[answers.indexOf(newest)]!
}

/** Null: the member is no primary that accepts writes. */
async function termOf(runtime: AskedRuntime, member: Address): Promise<number | null> {
  try {
    const { isWritable, term } = await runtime.request(member, 'replication.find-primary', {}, { timeoutMs })
    return isWritable ? term : null
  } catch (error) {
    if (error instanceof RequestFailedError) return null
    throw error
  }
}
