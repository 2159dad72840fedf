/** Members that join sets of a running cluster, and those that are forgotten after they left. */
import { loopbackOf, type Address, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { decode } from '@shardlab/bson'
import { suggestion } from '@shardlab/quantities'
import type { MemberInfo, Runtime } from '@shardlab/runtime'
import { replyOf } from '../answer-command.js'
import type { Faults } from '../faults/faults.js'
import { memberNamed } from '../member-names.js'
import { OptionError } from '../option-error.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { memberInfo, type ShardInfo } from '../shard-info.js'
import { storageRoles } from '../storage-roles.js'
import { memberSpec, specOf } from '../topology.js'

export interface AddedMember extends ShardInfo {
  /** `host:port`, as `rs.add` takes it. */
  readonly host: string
}

export interface MembershipParts {
  readonly runtime: Runtime
  readonly faults: Faults
  readonly options: ResolvedOptions
}

/**
 * Starts one more member of a set, with an empty disk.
 * @throws OptionError the cluster has no such set, or it has no protocol
 */
export async function addMember(
  { runtime, options }: Pick<MembershipParts, 'runtime' | 'options'>,
  set: Address,
): Promise<AddedMember> {
  const all = runtime.members().filter(({ role }) => storageRoles.has(role))
  const members = all.filter((member) => member.set === set)
  if (members.length === 0) {
    const sets = [...new Set(all.map((member) => member.set))]
    throw new OptionError(
      options.topology === 'standalone'
        ? 'cannot add a member: this is a standalone mongod without a set.'
        : `cannot add a member: ${set} is not a set of this cluster; ${suggestion(set, sets) ?? `its sets are ${sets.join(', ')}.`}`,
    )
  }
  if (members[0]!.address === set)
    throw new OptionError(
      `cannot add a member: ${set} has one member without a set's protocol; start the cluster with members: [{}], or more.`,
    )
  const taken = new Set(runtime.members().map(({ address }) => address))
  let number = 1
  while (taken.has(`${set}-${number}`)) number++
  const [member] = await runtime.background.start([memberSpec(specOf(options, set), number)])
  return { ...memberInfo(member!, options), host: member!.endpoint }
}

/**
 * Shuts down a member that is not in the configuration of its set, and forgets it with its disk.
 * Faults of the member are over.
 * @returns its name
 * @throws OptionError the cluster has no such member, it is in the configuration, or no other
 * member of the set knows that
 */
export async function removeMember({ runtime, faults }: MembershipParts, name: string): Promise<Address> {
  const member = memberNamed(name, runtime.members())
  const { address, set } = member
  if (!storageRoles.has(member.role) || set === address)
    throw new OptionError(`cannot remove ${address}: it is not one of several members of a set.`)
  const others = runtime.members().filter((other) => other.set === set && other !== member)
  if (others.length === 0) throw new OptionError(`cannot remove ${address}: ${set} has no other member.`)
  await checkUnconfigured(runtime, member)
  await faults.forget(address)
  await runtime.background.halt(address)
  await runtime.remove(address)
  return address
}

/** Of a member, as it describes itself. Null: it has none yet. */
type Configuration = { readonly version: number; readonly term: number; readonly hosts: readonly string[] } | null

/** @throws OptionError */
async function checkUnconfigured(runtime: Runtime, { address, set, endpoint }: MemberInfo): Promise<void> {
  const running = runtime.members().filter((other) => other.set === set && other.state === 'running')
  const others = running.filter((other) => other.address !== address)
  if (others.length === 0)
    throw new OptionError(
      `cannot remove ${address}: no other member of ${set} runs and knows its configuration; restart one first.`,
    )
  const described = await Promise.all(others.map((other) => runtime.describe(other.address)))
  const newest = described
    .map(({ configuration }) => configuration as Configuration)
    .reduce((best, other) => (isNewer(other, best) ? other : best), null)
  if (newest?.hosts.some((host) => loopbackOf(host) === loopbackOf(endpoint)) === true)
    throw new OptionError(
      `cannot remove ${address}: the configuration of ${set} has ${endpoint}; run rs.remove('${endpoint}') on the primary first.`,
    )
}

function isNewer(one: Configuration, other: Configuration): boolean {
  if (one === null || other === null) return one !== null
  // A forced change has no term.
  if (Math.min(one.term, other.term) >= 0 && one.term !== other.term) return one.term > other.term
  return one.version > other.version
}

export const membershipVerbs: ReadonlySet<string> = new Set(['addMember', 'removeMember'])

/** Serves the verbs of the command `shardlab` about members. `from`: its receiver. */
export function answerAboutMembership(
  parts: MembershipParts,
  { verb, body }: RequestOf<'cluster.command'>,
  from: Address,
): Promise<ReplyOf<'cluster.command'>> {
  return replyOf(async () => {
    const { set, member } = decode(body)
    if (verb === 'addMember') {
      if (typeof set !== 'string') throw new OptionError('addMember needs the name of a set, such as rs0.')
      return { ...(await addMember(parts, set)) }
    }
    if (typeof member !== 'string') throw new OptionError('removeMember needs the name of a member, such as rs0-4.')
    if (memberNamed(member, parts.runtime.members()).address === from)
      throw new OptionError(`cannot remove ${from} by its own reply: send the command to another member.`)
    return { removed: await removeMember(parts, member) }
  })
}
