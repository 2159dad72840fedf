/** Are there the members, links and steps that a fault names? */
import { balancerAddress, namedSteps, type Address } from '@shardlab/actor'
import { clientsAddress, type LinkEnd, type MemberInfo } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import type { ResolvedFault } from './effects.js'
import { formatFault } from './grammar.js'
import type { FaultSpec, FaultVerb } from './schema.js'

/** Roles whose members know a verb; the others have nothing that it could act on. */
const rolesOf: Partial<Record<FaultVerb, readonly string[]>> = {
  stepDown: ['shard', 'config-server'],
  slowDisk: ['shard', 'config-server'],
  fullDisk: ['shard', 'config-server'],
  freezeRoutes: ['mongos'],
  stallRangeDeleter: ['shard'],
}

/** Verbs that want a member that is up. */
const wantsUp: ReadonlySet<FaultVerb> = new Set(['crash', 'destroy', 'stop', 'pause', 'stepDown', 'freezeRoutes'])

/** @throws OptionError one sentence */
export function resolveFault(spec: FaultSpec, members: readonly MemberInfo[]): ResolvedFault {
  const target = 'target' in spec && spec.target !== undefined ? memberNamed(spec.target, members) : null
  if (target !== null) checkRole(spec, target)
  if ('step' in spec) checkStep(spec.step, target)
  const named = target === null ? spec : ({ ...spec, target: target.address } as FaultSpec)
  if (!('link' in spec)) return { spec: named, target: target?.address ?? null, link: null }
  const link = { from: endNamed(spec.link.from, members), to: endNamed(spec.link.to, members) }
  checkLink(spec.verb, link)
  const ends = { from: nameOf(link.from), to: nameOf(link.to) }
  return { spec: { ...spec, link: { ...spec.link, ...ends } } as FaultSpec, target: null, link }
}

/** @throws OptionError when nothing travels there that the verb could act on */
function checkLink(verb: FaultVerb, { from, to }: NonNullable<ResolvedFault['link']>): void {
  if (isOne(from) && isOne(to) && from[0] === to[0])
    throw new OptionError(
      isClients(from)
        ? 'clients have no links to each other; name a member.'
        : `${from[0]} has no link to itself; name two members.`,
    )
  if (verb === 'refuse' && isClients(to)) throw new OptionError('nobody connects to clients; name a member.')
  if (verb === 'cut' && isClients(from)) throw new OptionError('clients send no replies; name a member.')
  if (!isClients(from) && !isClients(to)) return
  if (verb === 'duplicate') throw new OptionError('what clients send is never duplicated; name members.')
  const other = isClients(from) ? to : from
  if (isOne(other) && other[0] === balancerAddress)
    throw new OptionError('clients have no link to the balancer; name another member.')
}

function isClients(end: LinkEnd): boolean {
  return isOne(end) && end[0] === clientsAddress
}

function nameOf(end: LinkEnd): string {
  return typeof end === 'string' ? end : end[0]!
}

/** @throws OptionError when the member is not in the state that the verb wants */
export function checkState({ spec, target }: ResolvedFault, members: readonly MemberInfo[]): void {
  const state = members.find(({ address }) => address === target)?.state
  if (wantsUp.has(spec.verb) && state !== 'running' && state !== 'starting')
    throw new OptionError(`${formatFault(spec)} wants a member that runs: ${target} is ${state}.`)
}

/** A member by its name, which may lack a zero: `mongos1`. */
function memberNamed(name: string, members: readonly MemberInfo[]): MemberInfo {
  const member = findMember(name, members)
  if (member === undefined)
    throw new OptionError(`${name} is not a member of this cluster; its members are ${addresses(members).join(', ')}.`)
  return member
}

function findMember(name: string, members: readonly MemberInfo[]): MemberInfo | undefined {
  const padded = name.replace(/^(\D+)(\d)$/, '$10$2')
  return members.find(({ address }) => address === name) ?? members.find(({ address }) => address === padded)
}

function endNamed(name: string, members: readonly MemberInfo[]): LinkEnd {
  switch (name) {
    case 'everybody':
    case 'members':
    case 'shards':
    case 'routers':
      return name
    case 'clients':
      return [clientsAddress]
    default: {
      const member = findMember(name, members)
      if (member !== undefined) return [member.address]
      throw new OptionError(
        `there is no link to ${name}; links end at ${addresses(members).join(', ')}, clients, shards, routers, members and everybody.`,
      )
    }
  }
}

function addresses(members: readonly MemberInfo[]): Address[] {
  return members.map(({ address }) => address).toSorted()
}

function isOne(end: LinkEnd): end is readonly [Address] {
  return typeof end !== 'string' && end.length === 1
}

function checkRole({ verb }: FaultSpec, { address, role }: MemberInfo): void {
  const roles = rolesOf[verb]
  if (roles === undefined || roles.includes(role)) return
  const wanted = roles.map((name) => (name === 'config-server' ? 'the config server' : `a ${name}`)).join(' or ')
  throw new OptionError(`${verb} is a fault of ${wanted}, and ${address} is a ${role}.`)
}

function checkStep(step: string, target: MemberInfo | null): void {
  if (!(namedSteps as readonly string[]).includes(step)) {
    const protocol = step.slice(0, step.lastIndexOf('.') + 1)
    const alike = namedSteps.filter((name) => protocol !== '' && name.startsWith(protocol))
    const hint =
      alike.length > 0
        ? `this protocol has ${alike.join(', ')}`
        : `protocols are ${[...new Set(namedSteps.map(protocolOf))].join(', ')}`
    throw new OptionError(`${step} is no step that members pass; ${hint}.`)
  }
  const role = step.startsWith('config.') ? 'config-server' : step.slice(0, step.indexOf('.'))
  if (target !== null && target.role !== role)
    throw new OptionError(`${target.address} is a ${target.role} and never passes ${step}.`)
}

function protocolOf(step: string): string {
  return step.slice(0, step.lastIndexOf('.'))
}
